#pragma once
// What the statements of a plan mean: which points each partition's pieces hold and which points each
// argument of each point task covers, found by walking over all points, obviously right. Statements that
// mean nothing (a destroyed region, a colour that does not exist) are left out; so are arguments that
// would conflict with another of the same launch, since a launch's points must be independent.
//
// One thread. Partitions by data need the values that the program has computed so far, so resolving
// and interpreting go hand in hand (interpreter.hpp).

#include <functional>
#include <map>
#include <vector>

#include "support/plan.hpp"

namespace refrain::test {

struct ResolvedPartition {
  int root = 0;  ///< region id; in children: the parent task's argument
  int tree = 0;  ///< the region tree
  Mask parent = 0;
  int colour_dim = 1;
  Point<3> colours{1, 1, 1};  ///< number of colours per dimension, from 0
  std::vector<Mask> pieces;
  /// The position of a colour, or -1.
  [[nodiscard]] int find(const Point<3>& colour) const;
  [[nodiscard]] Point<3> colour(int position) const;
};

[[nodiscard]] bool is_disjoint(const ResolvedPartition& partition);

struct ResolvedArgument {
  int tree = 0;
  int field = 0;
  Mask points = 0;
  Privilege privilege = Privilege::read;
  OpKind op = OpKind::sum;
  bool relaxed = false;
  friend bool operator==(const ResolvedArgument&, const ResolvedArgument&) = default;
};

struct Resolved;

/// The end of an attachment.
struct Detached {
  int id = -1;
  bool lost = false;  ///< its data is poisoned; known once it has been interpreted
};

/// One point of a launch.
struct PointTask {
  Point<3> point{};
  std::vector<ResolvedArgument> arguments;
  std::vector<Resolved> children;  ///< those that will be launched, once it has been interpreted
  int number = 0;                  ///< in program order, parents before their children
  enum class Throws : std::uint8_t { no, early, late } throws = Throws::no;
};

/// A statement with what it means. Requirements that were left out are gone from `spec` too.
struct Resolved {
  Statement spec;
  std::vector<PointTask> points;  ///< launch
  ResolvedPartition partition;    ///< partition; attach by pieces
  ResolvedArgument source,
      target;  ///< copy, fill, access, attach; source: also what a partition reads
  std::vector<Detached> detached;    ///< destroy_region, detach
  int tree = 0;                      ///< create, destroy_region
  ValueKind value = ValueKind::f64;  ///< reduce: the type of the futures
};

/// A program: everything resolved, in order, ended by reading all that is there.
struct Program {
  std::uint64_t seed = 0;
  std::vector<Shape> shapes;
  std::vector<TaskSpec> tasks;
  std::vector<int> tree_shapes;  ///< region trees by number: their shapes
  std::vector<Resolved> statements;
  std::vector<Detached> left;  ///< what the end detaches
  [[nodiscard]] const Shape& shape(int tree) const {
    return shapes[static_cast<std::size_t>(tree_shapes[static_cast<std::size_t>(tree)])];
  }
};

/// A field that points, as partitions by data see it.
struct PointerValues {
  std::function<Point<3>(int)> at;  ///< what the value at a point of its tree names
  const Shape* into = nullptr;      ///< preimage: the points of the tree that is pointed into
};

/// The pieces of a partition of `parent`; `a` and `b` are the operands where the operator has some.
std::vector<Mask> make_pieces(const Shape& shape, const PartitionSpec& spec, Mask parent,
                              const ResolvedPartition* a, const ResolvedPartition* b,
                              const PointerValues& pointers);

/// May two arguments be used at the same time?
bool conflict(const ResolvedArgument& a, const ResolvedArgument& b);

class World {
 public:
  /// What the present value of a field that points names, at a point of a tree.
  using ReadValue = std::function<Point<3>(int tree, int field, int point)>;
  /// Does a failure keep the program from reading this?
  using IsPoisoned = std::function<bool(const ResolvedArgument&)>;
  struct LivePartition {
    ResolvedPartition is;
    RegionRef parent;
    bool alive = true;
  };
  struct Attachment {
    ResolvedArgument is;
    RegionRef region;
    int partition = -1;  ///< it is by this one's pieces
  };
  struct LiveFuture {
    ValueKind kind = ValueKind::f64;
    bool map = false;
  };

  World(const Plan& plan, ReadValue read, IsPoisoned poisoned)
      : plan_(&plan), read_(std::move(read)), poisoned_(std::move(poisoned)) {}

  /// Resolves a statement and applies it. False: it means nothing here, and nothing happened.
  bool apply(const Statement& statement, Resolved& resolved);
  /// Reads of every field of every region there is. Then the ends of all attachments but one, so that
  /// what the runtime does at the end of a program is tried as well.
  [[nodiscard]] std::vector<Statement> last_statements() const;

  [[nodiscard]] const std::map<int, int>& regions() const { return regions_; }
  [[nodiscard]] const std::map<int, LivePartition>& partitions() const { return partitions_; }
  [[nodiscard]] const std::map<int, LiveFuture>& futures() const { return futures_; }
  [[nodiscard]] const std::map<int, Attachment>& attachments() const { return attachments_; }
  [[nodiscard]] const std::vector<int>& tree_shapes() const { return tree_shapes_; }
  [[nodiscard]] const Shape& shape(int tree) const {
    return plan_->shapes[static_cast<std::size_t>(tree_shapes_[static_cast<std::size_t>(tree)])];
  }
  /// The points of a region, its tree; false if it does not exist.
  bool find(const RegionRef& region, int& tree, Mask& points) const;

 private:
  bool resolve(const Statement& s, Resolved& r);
  bool create(const Statement& s, Resolved& r);
  bool partition(const Statement& s, Resolved& r);
  bool take_operands(PartitionSpec& spec, const ResolvedPartition* (&operands)[2]) const;
  bool take_data(const PartitionSpec& spec, const ResolvedPartition* operand, Resolved& r) const;
  bool destroy(const Statement& s, Resolved& r);
  bool launch(const Statement& s, Resolved& r);
  bool take_requirement(const RequirementSpec& q, Resolved& r) const;
  bool allowed(const RequirementSpec& q, int root) const;
  bool argument(const RequirementSpec& q, ResolvedArgument& a) const;
  bool copy(const Statement& s, Resolved& r) const;
  bool attach(const Statement& s, Resolved& r);
  bool detach(const Statement& s, Resolved& r);
  /// Has the argument values to read, should it read?
  [[nodiscard]] bool readable(const ResolvedArgument& a) const;
  void note_writes(const Resolved& r);
  bool future(int id, bool map, const ValueKind* kind) const;
  void children(const Statement& s, PointTask& task);

  const Plan* plan_;
  ReadValue read_;
  IsPoisoned poisoned_;
  int point_tasks_ = 0;                                       ///< so far, children included
  const std::vector<ResolvedArgument>* arguments_ = nullptr;  ///< of the parent, in children
  std::map<int, int> regions_;  ///< living root regions: id to tree (shared number)
  std::vector<int> tree_shapes_;
  std::map<int, LivePartition> partitions_;
  std::map<int, LiveFuture> futures_;
  int trace_ = -1;  ///< open
  std::map<int, Attachment> attachments_;
  std::map<std::pair<int, int>, Mask> without_values_;  ///< detached: by tree and field
};

}  // namespace refrain::test
