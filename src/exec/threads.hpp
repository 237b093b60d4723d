#pragma once
// The threads of the threaded executor: which processor of the machine each stands for, where it is bound, and why no
// further thread can be started. The system reports a failed start without its reason; the reason is found by comparing
// the limits of the control group, the user, the process and the system with their use. Called when an executor starts.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/executor.hpp"

namespace refrain::exec {

struct CpuPlace {
  int processor;          ///< the machine's id
  std::vector<int> cpus;  ///< hardware threads to bind to; empty: none
};

struct ProcessorPlan {
  std::vector<CpuPlace> cpus;  ///< never empty; worker i stands for cpus[i % size]
  std::vector<int> dedicated;  ///< ids of processors with a thread and a queue of their own (gpus)
};

ProcessorPlan plan_processors(const Machine& machine);

/// As make_threaded_executor of a machine (graph/executor.hpp).
std::shared_ptr<Executor> make_threaded_executor(const ProcessorPlan& plan,
                                                 const ExecutorOptions& options);

/// Binds the calling thread; does nothing when that is not possible.
void bind_this_thread(const std::vector<int>& cpus);
/// Moves the calling thread to one of these, and leaves it free to go elsewhere.
void move_this_thread(const std::vector<int>& cpus);

/// Which limits there are and which of them is reached, as a part of a sentence. Reads /proc and the control group.
std::string what_limits_threads();

/// The limits and their use.
struct ThreadLimits {
  struct Limit {
    std::optional<std::uint64_t> most;  ///< nothing: there is none, or it is not known
    std::uint64_t now = 0;              ///< used; 0 where that is not known
    [[nodiscard]] std::uint64_t at_most() const { return most.value_or(UINT64_MAX); }
  };
  std::string group_name;  ///< whose pids.max is the least
  Limit group;             ///< threads in that control group
  Limit user;              ///< threads of the user, RLIMIT_NPROC
  Limit system;            ///< threads in all, /proc/sys/kernel/threads-max
  Limit addresses;         ///< bytes, RLIMIT_AS; the most that were used
  std::size_t stack = 0;   ///< bytes that a thread's stack takes of those
};
/// The same sentence for given limits.
std::string what_limits_threads(const ThreadLimits& limits);

}  // namespace refrain::exec
