#pragma once
// Plays a captured program: makes its calls, in their order, in a context of a simulation.
//
// Partitions are made of the pieces that they had. Bodies are empty, and futures hold zeros. What the program did with
// values is not repeated: how often its loops ran is in the stream.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/captured_program.hpp"
#include "refrain/context.hpp"
#include "refrain/dynamic.hpp"
#include "refrain/trace.hpp"
#include "simulate/cost_model.hpp"
#include "simulate/virtual_executor.hpp"

namespace refrain::simulate {

/// Between two fences of the program; before the first, and behind the last.
struct Phase {
  double begin = 0, end = 0;  ///< seconds of the program's time
  std::uint64_t calls = 0, tasks = 0;
};

/// A loop: what the stream says several times in a row.
struct Loop {
  std::uint64_t times = 0, calls = 0;  ///< iterations; calls of one
  double begin = 0, end = 0;           ///< until the program first waited for something behind it
  [[nodiscard]] double iteration_seconds() const {
    return (end - begin) / static_cast<double>(times);
  }
};

class Player {
 public:
  /// All outlive this.
  Player(const capture::Program& program, CostModel& model, VirtualExecutor& executor);
  /// The whole program. Throws what its calls throw: OutOfMemory where the mapping has no room, UsageError.
  void play(Context& context);

  [[nodiscard]] const std::vector<Phase>& phases() const { return phases_; }
  /// The one with most calls; nothing where the program has none.
  [[nodiscard]] const std::optional<Loop>& longest_loop() const { return loop_; }
  [[nodiscard]] std::uint64_t tasks() const { return tasks_; }

 private:
  /// What a call is made of. Its handles are those of `epoch`.
  struct Prepared {
    std::vector<Requirement> requirements;
    std::optional<LaunchDomain> domain;
    std::optional<AnyIndexSpace> space;  ///< of the domain, where that is sparse
    Where where;
    std::uint64_t epoch = 0;
    std::uint64_t points = 1;
  };

  void play_rule(Context& context, std::uint32_t rule);
  void play_call(Context& context, capture::Number number);
  void launch(Context& context, const capture::Call& call, Prepared& prepared);
  void prepare(const capture::Call& call, Prepared& prepared);
  void make_partition(Context& context, capture::Number number, const Where& where);
  [[nodiscard]] AnyRegion place(const capture::Place& place) const;
  [[nodiscard]] const AnyFuture& future(std::uint64_t back) const;
  void keep(AnyFuture future);
  void waited();

  const capture::Program& program_;
  CostModel& model_;
  VirtualExecutor& executor_;
  std::set<std::string>
      files_;  ///< launches of one line are told by the address of its file's name
  std::vector<ValueType> types_;
  std::vector<AnyField> fields_;
  std::vector<std::unique_ptr<DynamicTask>> tasks_made_;
  std::vector<ReductionOp> operators_;
  std::vector<Projection> projections_;
  std::map<std::string, Trace, std::less<>> traces_;
  std::vector<AnyRegion> regions_;  ///< alive now
  std::vector<AnyPartition> partitions_;
  std::vector<Prepared> prepared_;  ///< by call
  std::vector<AnyFuture> futures_;  ///< of the last calls, by number of call modulo their number
  std::vector<std::uint64_t> tickets_;  ///< of accesses, likewise
  std::vector<double> seconds_;         ///< that they are held, likewise
  std::uint64_t epoch_ = 1;             ///< of regions and partitions
  std::uint64_t position_ = 0, tasks_ = 0;
  std::vector<Phase> phases_{1};
  std::optional<Loop> loop_;
  bool loop_is_open_ = false;  ///< the program has not waited since it ended
};

}  // namespace refrain::simulate
