#pragma once
// The order of a program by definition, and its flow dependences, worked out per point and field. No instances, no shards.
//
// The operations are tasks, folds, copies, fills, accesses, attachments and reductions of futures. Two of them conflict
// where both use a point of a field, and not both read it; a use of a future comes after its maker. The order is the
// transitive closure of that (dynamic control replication, section 2: the task graph of the sequential analysis).
//
// A flow dependence leads from what made a value to what reads it. Of a point that is folded, each fold reads what is there
// before it; of relaxed folds with one operator that follow each other, all read what is there before the first.

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/naive_analysis.hpp"
#include "support/order.hpp"

namespace refrain::test {

class SequentialOrder {
 public:
  explicit SequentialOrder(const Program& program);

  /// The operation of the program that a naive operation is, or is a part of; -1 for moves and messages.
  [[nodiscard]] int find(const NaiveOperation& operation) const;
  [[nodiscard]] bool ordered(int before, int after) const { return order_.has(before, after); }

  struct Flow {
    int from, to;
    int tree, field, point;  ///< -1: a future, or what a task contributes
    /// The point that `to` has for it: a copy that of its target.
    int to_point;
    friend auto operator<=>(const Flow&, const Flow&) = default;
  };
  [[nodiscard]] const std::vector<Flow>& flows() const { return flows_; }
  [[nodiscard]] std::string describe(int operation) const;

 private:
  /// A kind of operation of a statement, its launch point, and the argument of a fold. Of a detachment the attachment and
  /// the piece.
  struct Name {
    exec::NodeKind kind;
    const Resolved* statement;
    std::size_t part;
    int argument;
    friend auto operator<=>(const Name&, const Name&) = default;
  };
  struct PointState {
    int writer = -1;
    std::vector<int> readers;  ///< since then
    std::vector<int> makers;   ///< of the value
    std::optional<OpKind> group;
    std::vector<int> before_group;  ///< makers of the value before the relaxed folds
  };

  void execute(const Resolved& r);
  void launch(const Resolved& r);
  void copy(const Resolved& r);
  void end(int attachment);
  int add(const Name& name);
  PointState& state(const ResolvedArgument& argument, int point);
  void flow(const std::vector<int>& makers, int to);
  void flow(const std::vector<int>& makers, int to, const ResolvedArgument& by, int point,
            int to_point);
  void read(int operation, const ResolvedArgument& argument, int point, int to_point);
  void write(int operation, PointState& at);
  void use(int operation, const ResolvedArgument& argument);
  void fold(int operation, const ResolvedArgument& argument);
  /// The points get a value that was made elsewhere, or by nobody.
  void set(int operation, const ResolvedArgument& argument, const std::vector<int>& makers);
  void close();

  const Program* program_;
  std::map<Name, int> operations_;
  std::vector<Name> names_;
  std::vector<std::pair<int, int>> edges_;
  std::vector<Flow> flows_;
  std::map<std::pair<int, int>, std::vector<PointState>> fields_;  ///< by tree and field
  std::map<int, std::vector<int>> producers_;                      ///< of futures
  std::map<int, const Resolved*> attached_;
  Order order_;
};

}  // namespace refrain::test
