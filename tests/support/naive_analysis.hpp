#pragma once
// The naive analysis: which operations a program needs and in what order, worked out per point, field
// and instance, remembering nothing but the definition's state. It is the definition that the real
// analysis is judged by (judge.hpp).
//
// State of every point of every field: which instances are valid there, and whether a fill is pending;
// per instance, the last operation that wrote there and those that have read since. An instance is
// storage for one field over a set of points in one memory.
//   R1/R2  A read of an instance that is not valid at a point first makes it so: by the pending fill, else
//          by a copy from the valid instance nearest to its memory (ties: the one created first).
//   order  A read comes after the last writer, a write after the readers since and the last writer.
//   W      After a write the instance alone is valid, and no fill is pending.
//   fold   A reducing argument orders nothing by itself; after the task its accumulator is folded by an
//          operation of its own, which reads and writes, after the task.
//   group  Relaxed folds with one operator that follow each other with no other use of the instance between
//          them are its last writers together: each comes after what the first one came after.
//   room   A full memory drops the instance used longest ago, but none of the present point task; what is
//          valid nowhere else, and no pending fill, is first copied to an instance of the whole field in
//          system memory. Where that does not help, another memory is taken. With WhenFull::next, all
//          memories are first tried with only that dropped which is valid elsewhere, too; and before that,
//          if one of them has an instance that serves, those up to it with nothing dropped. Bytes of what
//          has ended come back when there is no room, or for many at once, never depending on how far
//          operations are.
// Copies and fills are one operation per point here; everything else is one operation per task, fold,
// access or copy call.
//
// The children of a nested task are a program of their own: at its start each argument of the parent is
// valid in the instance that the parent has (its home; where the parent reduces, its accumulator, to which
// children can only reduce), and nobody uses it; at fences and at the end what is not valid at home any more
// is copied there. A child's argument belongs to the parent's first argument
// that contains it and allows it.
//
// A shard's share of a program (naive_shard.cpp) is its own point tasks, what every shard does (accesses, fills, reductions
// of futures), and the two ends of messages, which are operations here; the steps of naive_traffic.hpp say which. Values
// are sent from and received in system memory: a send reads there after rules R1 and R2, a receive writes. What other
// shards write changes nothing here. Instances of a whole field have room for a box around the points that the shard has
// used; when that grows, larger ones take the places of those there are.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/node.hpp"
#include "memory/memory_pool.hpp"
#include "support/mapping_rule.hpp"
#include "support/resolve.hpp"

namespace refrain::test {

struct NaiveStep;

/// What an operation is to the program.
enum class Role : std::uint8_t {
  call,  ///< a task, a fold, or what another call does
  move,  ///< a copy or fill that makes an instance valid
  // Of a shard:
  send,  ///< of values; one per point, as moves and receives are
  receive,
  give,  ///< a launch point's contributions, to the shard that folds them
  take,  ///< one per launch point that gives some
  send_future,
  receive_future,
  send_result  ///< of the points below, to the shard above: a reduction that shards make together
};

struct NaiveOperation {
  exec::NodeKind kind = exec::NodeKind::task;
  std::uint64_t call = 0;
  std::size_t rank = 0;
  int argument = -1;
  int tree = -1, field = -1;
  MemoryId source = 0, target = 0;
  Mask points = 0;  ///< copies and fills: one point
  const Resolved* statement = nullptr;
  Role role = Role::call;
  /// The shard at the other end of a message. Of a future that is sent: who has had it so far; -1: its values go to all.
  int peer = -1;
  /// Among a call's operations of this kind: the point of the launch, also where a shard counts its own; of a detachment the
  /// attachment.
  std::size_t part = 0;
};

struct NaiveEdge {
  int from = 0, to = 0;
  const char* rule = "";
};

struct NaiveGraph {
  std::vector<NaiveOperation> operations;
  std::vector<NaiveEdge> edges;
};

class NaiveAnalysis {
 public:
  /// `limited`: memories have their capacities. (Not for programs with children, which share them.)
  NaiveAnalysis(const Program& program, const MappingRule& mapping, bool limited = false);
  ~NaiveAnalysis();
  NaiveAnalysis(const NaiveAnalysis&) = delete;

  // One of these, once.
  /// The graph of the whole program, without what nested tasks launch.
  NaiveGraph analyse();
  /// The graph of one of several shards, with the steps of NaiveTraffic.
  NaiveGraph analyse_share(const std::vector<NaiveStep>& steps, int shard);
  /// Was a memory of the mapper's choice too small? Launches like that one may then stay with another
  /// memory as long as they please, which is no matter of the definition.
  [[nodiscard]] bool fell_back() const { return fell_back_; }
  /// The graph of the children of one point of a launch.
  NaiveGraph analyse_children(const Resolved& parent, std::size_t rank);

 private:
  struct Instance {
    int owner = -1, field = -1;
    MemoryId memory = 0;
    Mask points = 0;
    Order order = Order::c;
    Sparse sparse = Sparse::by_density;
    bool given = false;  ///< attached, or the parent's: taken as it is, whatever order is asked for
    bool whole = false;  ///< of all points, on a shard of the extent
    bool alive = true;
    void* block = nullptr;       ///< of limited memory
    std::uint64_t last_use = 0;  ///< number of the point task
  };
  struct Uses {
    std::vector<int> last_writers;  ///< one, or a group of folds
    std::vector<int> readers;       ///< since then
    /// While another fold may join the group: its operator, and what each of its folds comes after.
    std::optional<OpKind> group;
    std::vector<int> before_group;
  };
  struct PointState {
    std::set<int> valid;       ///< instances
    bool fill_pending = true;  ///< a new region is filled with zeros
    int fill_producer = -1;    ///< of a fill with a future
    std::map<int, Uses> uses;  ///< by instance
  };
  /// A use of a region argument by an operation.
  struct Use {
    const ResolvedArgument* argument;
    int position;  ///< of the argument in its launch
    int instance;
  };

  void execute(const Resolved& r);
  void launch(const Resolved& r);
  /// Returns the task.
  /// `own_rank`: among the points of the launch that run here.
  int point_task(const Resolved& r, std::size_t rank, std::size_t own_rank);
  int fold(const Use& use, int after, std::size_t rank);
  void fill(const Resolved& r);
  void copy(const Resolved& r);
  void access(const ResolvedArgument& argument);
  void hold(exec::NodeKind kind, const Use& use, std::size_t part = 0, std::size_t rank = 0);
  void attach(const Resolved& r);
  void detach(int attachment);
  void partition(const Resolved& r);
  void reduce(const Resolved& r);

  // On a shard (naive_shard.cpp):
  const NaiveStep& next_step();
  void launch_share(const Resolved& r);
  void exchange(const NaiveStep& step, const ResolvedArgument& argument, int position);
  void fold_share(const Use& use, int task, std::size_t rank, const NaiveStep& step);
  void gather(int future);
  void receive_values(const NaiveStep& step);
  void reduce_share(const Resolved& r, const NaiveStep& step);
  [[nodiscard]] Mask extent(const ResolvedArgument& argument);
  void note_use(const ResolvedArgument& argument);
  void widen(ResolvedArgument argument, Mask points);
  int add_message(exec::NodeKind kind, Role role, int peer);

  /// Whose data an argument is: the region tree, or the parent's argument.
  [[nodiscard]] int owner(const ResolvedArgument& argument) const;
  PointState& state(const ResolvedArgument& argument, int point);
  [[nodiscard]] Placement place(const Resolved& r, std::size_t rank) const;
  void bring_home();
  int instance_for(const ResolvedArgument& argument, const Placement::Argument& where);
  int main_memory_instance(const ResolvedArgument& argument);
  int try_memory(const ResolvedArgument& argument, const Placement::Argument& where,
                 MemoryId memory, std::optional<WhenFull> gives_way);
  int existing_in(const ResolvedArgument& argument, const Placement::Argument& where,
                  MemoryId memory);
  [[nodiscard]] data::IndexSpaceRef space_of(const Instance& instance) const;
  [[nodiscard]] bool fits(const Instance& instance, Sparse sparse) const;
  bool allocate(Instance& made, std::optional<WhenFull> gives_way);
  bool evict_one(MemoryId memory, WhenFull when_full);
  bool holds(int number, int point);
  void release(int instance);
  void release_all(int tree);
  void copy_point(const ResolvedArgument& argument, int point, int source, int target,
                  std::size_t rank, int position);
  int add(NaiveOperation operation);
  void edge(int from, int to, const char* rule);
  void make_valid(const Use& use, std::size_t rank);
  void read(int operation, Uses& uses, const char* rule);
  void overwrite(int operation, Uses& uses, const char* after_writer, const char* after_reader);
  void fold_in_any_order(int operation, Uses& uses, OpKind op);
  void use(int operation, const Use& use);

  const Program* program_;
  const MappingRule* mapping_;
  int phase_ = 0;  ///< of the mapping
  NaiveGraph graph_;
  std::vector<Instance> instances_;
  std::map<std::pair<int, int>, std::vector<PointState>> fields_;  ///< by owner and field
  std::map<int, std::vector<int>> producers_;                      ///< of futures
  std::uint64_t calls_ = 0;
  const Resolved* statement_ = nullptr;
  const PointTask* parent_ = nullptr;  ///< in children
  std::vector<Use> homes_;             ///< of the parent's arguments
  bool limited_;
  bool fell_back_ = false;
  std::vector<std::unique_ptr<memory::MemoryPool>> pools_;  ///< where limited
  std::uint64_t point_ = 0;                                 ///< the point task, or the like
  std::size_t rank_ = 0;                                    ///< within its launch
  struct Attached {
    ResolvedArgument whole;
    std::map<std::size_t, int> instances;  ///< those here, by piece
  };
  std::map<int, Attached> attached_;
  /// On a shard: a box around the points of a field that it has used.
  struct Extent {
    std::optional<Rect<3>> box;
    int widened = 0;
    bool grown = false;
  };
  std::map<std::pair<int, int>, Extent> extents_;  ///< by tree and field
  const std::vector<NaiveStep>* steps_ = nullptr;  ///< on a shard
  std::size_t next_step_ = 0;
  int shard_ = 0;
};

}  // namespace refrain::test
