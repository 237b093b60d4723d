#pragma once
// What tasks waited for, and how long, for --refrain:explain: the graph log says when an operation was issued
// and after which others it comes, the listener when they ran. Of its predecessors an operation has waited
// for the one that was done last, if that was after it was issued; from then on for a thread.
//
// Threads: any, one lock. Memory: operations that have been issued and have not run.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/logs.hpp"
#include "graph/executor.hpp"

namespace refrain::runtime {

struct Wait {
  std::uint64_t ns = 0, times = 0;
  void add(std::uint64_t more) {
    ns += more;
    ++times;
  }
};

/// Of the tasks of one name.
struct Waits {
  std::map<std::string, Wait> after;  ///< a task's name, or "copy of 'FIELD'" and the like
  Wait thread;                        ///< ready, and no thread free
};

class WaitTimes final : public analysis::GraphLog, public exec::ExecutionListener {
 public:
  /// These are told as well; null: nobody.
  WaitTimes(analysis::GraphLog* log, exec::ExecutionListener* listener)
      : log_(log), listener_(listener) {}

  /// A nested context lives: the identity of its scope, and what the log calls it.
  void opened(std::uint64_t identity, std::uint64_t context);
  void closed(std::uint64_t identity);
  [[nodiscard]] std::map<std::string, Waits> by_task() const;

  void operation(const analysis::LoggedOperation& operation) override;
  void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to,
            exec::EdgeKind kind) override;
  void executed(const exec::Node& node, int thread, std::uint64_t begin_ns,
                std::uint64_t end_ns) override;
  void replayed(const exec::NodeInfo* info, exec::NodeKind kind, std::uint64_t seq, int thread,
                std::uint64_t begin_ns, std::uint64_t end_ns) override;

 private:
  struct Key {
    std::uint64_t context, seq;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return (key.context * 0x9E3779B97F4A7C15ull) ^ key.seq;
    }
  };
  /// Issued, and not run yet.
  struct Issued {
    std::string name;
    bool task = false;
    std::uint64_t issued_ns = 0;
    std::uint64_t done_ns = 0;  ///< when its last predecessor so far was done ...
    std::string after;          ///< ... and what that was
    std::vector<Key> successors;
  };
  void done(const Key& key, std::uint64_t begin_ns, std::uint64_t end_ns);

  analysis::GraphLog* const log_;
  exec::ExecutionListener* const listener_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> contexts_;  ///< nested ones, by identity
  std::unordered_map<Key, Issued, Hash> issued_;
  std::map<std::string, Waits> waits_;
};

}  // namespace refrain::runtime
