#pragma once
// The use state of an instance at an equivalence set, and its transitions: which operations a read, a write or a
// fold comes after, and what it leaves behind. These are the order rules of the analysis (docs/analysis.md), written
// once: the analysis applies them to operations in flight, tracing applies them to operations of a recording
// (trace/outcome.hpp). `Ref` names an operation; a default-made one names none.
//
// Relaxed reductions. Folds with one operator commute when they follow each other in program order and nothing else
// uses the instance at these points in between. Such a *fold group* takes the place of the last writer. Each of its
// folds comes after whatever the first one came after, and after none of the other folds. The next read or write
// comes after all of them and closes the group; so does an ordered fold, or one with another operator. Uses of
// another instance need no rule: after a fold its target alone is valid (rule W), so such a use begins with a copy
// from here, which is a read, or overwrites the points, and then the next fold here needs a copy to here, a write.
// Folds of a group may run at the same time; memory/accumulator.hpp sees to it that no contribution is lost.
//
// Pure. Cost: one call of `add` for each predecessor.

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/boxed.hpp"
#include "graph/node.hpp"
#include "refrain/reduction.hpp"

namespace refrain::analysis {

struct Instance;

/// How the state of an instance at an equivalence set changes. The first five are uses by an operation (rules R1, R2
/// and W); the others are events that a recording notes beside them.
enum class StateChange : std::uint8_t {
  read,       ///< one more reader
  write,      ///< the last writer, and the only valid instance; it may have read, too
  validate,   ///< the last writer, by a copy or a fill: valid beside the others
  fold,       ///< one of the last writers, by a relaxed fold, and the only valid instance
  empty_use,  ///< an operation has an argument without points in the instance
  pend,       ///< a fill becomes pending
  end,        ///< the region ends: as if nothing had ever happened here
  gone,       ///< an instance ends with its region
};

/// An operator, named by its function.
using FoldFunction = decltype(ReductionOp::fold);

template <class Ref>
struct FoldGroup {
  FoldFunction fold = nullptr;
  std::vector<Ref> folds;   ///< so far
  std::vector<Ref> before;  ///< each of them comes after these
  friend bool operator==(const FoldGroup&, const FoldGroup&) = default;
};

template <class Ref>
struct UseState {
  using Readers = boost::container::small_vector<Ref, 32 / sizeof(Ref)>;
  UseState() {}  // not an aggregate, which would be cleared as a whole first

  Instance* instance = nullptr;
  Ref writer{};                 ///< the operation that wrote last
  Readers readers;              ///< since then
  Boxed<FoldGroup<Ref>> group;  ///< relaxed folds wrote last: `writer` is empty
  bool valid = false;           ///< the instance holds the latest values
  friend bool operator==(const UseState&, const UseState&) = default;

  /// Whether a relaxed fold belongs to the group that wrote last.
  [[nodiscard]] bool joins_group(FoldFunction fold) const {
    return group && group->fold == fold && readers.empty();
  }
  /// Calls visit(operation) for the last writer, or for the folds that wrote last.
  template <class Visit>
  void for_each_last_writer(Visit visit) const {
    if (writer) visit(writer);
    else if (group) [[unlikely]]
      for (const Ref& each : group->folds) visit(each);
  }
};

// --- predecessors: calls of add(operation) -----------------------------------------------------------------

/// A reader comes after the last write.
template <class Ref, class Add>
void before_read(const UseState<Ref>& use, Add add) {
  use.for_each_last_writer(add);
}

/// A writer comes after the reads since the last write, which come after that write; or else after that write.
template <class Ref, class Add>
void before_write(const UseState<Ref>& use, Add add) {
  for (const Ref& reader : use.readers) add(reader);
  if (use.readers.empty()) use.for_each_last_writer(add);
}

/// The same for any use. The first fold of a group comes after everything that a write would come after.
template <class Ref, class Add>
void before(const UseState<Ref>& use, StateChange change, FoldFunction fold, Add add) {
  if (change == StateChange::read) return before_read(use, add);
  if (change != StateChange::fold || !use.joins_group(fold)) return before_write(use, add);
  for (const Ref& each : use.group->before) add(each);
}

// --- transitions: the same calls, and then the state after `self` -----------------------------------------

/// `make_room(use)` is called when the list of readers is full.
template <class Ref, class Room>
void add_reader(UseState<Ref>& use, const Ref& self, Room make_room) {
  if (!use.readers.empty() && use.readers.back() == self) return;
  if (use.readers.size() == use.readers.capacity()) make_room(use);
  use.readers.emplace_back(self);
}

template <class Ref, class Add>
[[gnu::noinline]] void close_readers_and_group(UseState<Ref>& use, Add add) {
  before_write(use, add);
  use.readers.clear();
  use.group.reset();
}

template <class Ref, class Add>
void write(UseState<Ref>& use, const Ref& self, Add add) {
  if (!use.readers.empty() || use.group) [[unlikely]]
    close_readers_and_group(use, add);
  else if (use.writer) add(use.writer);
  use.writer = self;
}

/// The group that a relaxed fold joins, begun when there is none.
template <class Ref>
FoldGroup<Ref>& group_for(UseState<Ref>& use, FoldFunction fold) {
  if (use.joins_group(fold)) return *use.group;
  FoldGroup<Ref> group{fold, {}, {}};
  before_write(use, [&group](const Ref& earlier) { group.before.push_back(earlier); });
  use.writer = {};
  use.readers.clear();
  return use.group.emplace(std::move(group));
}

/// Any use.
template <class Ref, class Add>
void apply(UseState<Ref>& use, StateChange change, FoldFunction fold, const Ref& self, Add add) {
  if (change != StateChange::read && change != StateChange::fold) return write(use, self, add);
  before(use, change, fold, add);
  if (change == StateChange::read) add_reader(use, self, [](UseState<Ref>&) {});
  else group_for(use, fold).folds.push_back(self);
}

// --- equivalence sets ------------------------------------------------------------------------------------

/// The state of an equivalence set: that of each instance used there, and the pending fill, if any.
template <class Ref, class Fill>
struct SetState {
  boost::container::small_vector<UseState<Ref>, 1> uses;
  Fill fill{};  ///< pending: valid everywhere, written nowhere yet

  /// The state of an instance here, null if it was never used here.
  [[nodiscard, gnu::always_inline]] UseState<Ref>* find(const Instance* instance) {
    for (UseState<Ref>& use : uses)
      if (use.instance == instance) return &use;
    return nullptr;
  }
  /// The same, made when missing. Mostly there is one, or the oldest is wanted.
  UseState<Ref>& at(Instance* instance) {
    if (!uses.empty() && uses.front().instance == instance) [[likely]]
      return uses.front();
    return find_or_add(instance);
  }
  /// Rule W: `use` becomes the only valid one, and no fill is pending.
  void only_valid(UseState<Ref>& use) {
    if (uses.size() > 1) [[unlikely]]
      invalidate();
    use.valid = true;
    if (fill) [[unlikely]]
      fill = {};
  }
  void invalidate() {
    for (UseState<Ref>& use : uses) use.valid = false;
  }
  [[gnu::noinline]] UseState<Ref>& find_or_add(Instance* instance) {
    if (UseState<Ref>* use = find(instance)) return *use;
    uses.emplace_back().instance = instance;
    return uses.back();
  }
};

}  // namespace refrain::analysis
