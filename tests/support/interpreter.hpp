#pragma once
// The sequential interpreter: executes a program one statement after the other on plain arrays. This is
// what Refrain promises to be equal to, bit for bit.
//
// Regions start as zero bytes; the points of a launch run in the order of their domain; a reducing task
// fills accumulators that start at the operator's identity and are folded when it ends, arguments in
// order; children run after their parent's own work. What throws, and what that leaves behind, is kept by
// the rules of poison.hpp; interpreting also finds out which children are launched at all.

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "support/poison.hpp"
#include "support/resolve.hpp"

namespace refrain::test {

class View;

/// What a program sees of itself when it accesses a region, waits for a future or gets its own memory back.
struct Observation {
  std::size_t statement = 0;  ///< its number; at the end of the program, how many there are
  std::vector<std::byte> values;
  int failure = -1;  ///< instead of values: an error, caused by the point task of this number
  std::vector<bool> elsewhere{};  ///< on a shard: which bytes only another one has
  friend bool operator==(const Observation&, const Observation&) = default;
};

class Interpreter {
 public:
  explicit Interpreter(const std::vector<Shape>& shapes, const std::vector<TaskSpec>& tasks)
      : shapes_(&shapes), tasks_(&tasks) {}

  void execute(Resolved& statement);
  /// The program ends; these attachments are left.
  void finish(std::vector<Detached>& left);
  [[nodiscard]] Failure poison(const ResolvedArgument& argument) const {
    return poison_.of(argument);
  }
  [[nodiscard]] const std::vector<Observation>& observed() const { return observed_; }
  /// What a value of a field that points names.
  [[nodiscard]] Point<3> pointed_at(int tree, int field, int point);
  /// The bytes of a value.
  void* address(int tree, int field, int point);

 private:
  struct Tree {
    const Shape* shape = nullptr;
    std::vector<std::vector<std::byte>> fields;
  };
  using Value = std::array<std::byte, 8>;
  struct FutureValue {
    ValueKind kind = ValueKind::f64;
    std::vector<Value> values;  ///< one, or one per point
    std::vector<Failure> failures;
  };

  void perform(Resolved& r);
  void create(const Resolved& r);
  void launch(Resolved& r);
  /// A task whose children run: its arguments, and where each has its values.
  struct Parent {
    const std::vector<ResolvedArgument>& arguments;
    const std::vector<View*>& views;
  };
  Failure run_point(const Resolved& r, PointTask& task, FutureValue& result);
  Failure run_body_of(const Resolved& r, PointTask& task, FutureValue& result);
  Failure run_children(PointTask& task, const std::vector<View*>& views);
  void leave(const PointTask& task, Failure failure);
  std::byte* fold_target(const ResolvedArgument& a);
  void reduce(const Resolved& r);
  void fill(const Resolved& r);
  void copy(const Resolved& r);
  void access(const Resolved& r);
  void attach(const Resolved& r);
  void detach(std::vector<Detached>& ended);
  std::vector<std::byte> values_of(const ResolvedArgument& is);
  void observe(std::span<const std::byte> values);
  void observe(Failure failure);
  std::uint64_t future_bits(int id) const;

  const std::vector<Shape>* shapes_;
  const std::vector<TaskSpec>* tasks_;
  std::vector<Tree> trees_;
  const Parent* parent_ = nullptr;
  Poison poison_;  ///< of the context that runs
  std::map<int, FutureValue> futures_;
  std::map<int, ResolvedArgument> attached_;
  std::size_t executed_ = 0;  ///< statements of the program
  std::vector<Observation> observed_;
};

/// Resolves a plan; the values that partitions by data look at come from interpreting it on the way.
/// `expected`, where given, receives what the program observes.
Program resolve(const Plan& plan, std::vector<Observation>* expected = nullptr);

}  // namespace refrain::test
