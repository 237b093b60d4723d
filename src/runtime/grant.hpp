#pragma once
// What a nested context may use of its parent task's data: a grant per region argument of the parent.
//
// The grant's values are in one place at first, the parent's own (its *home*: the instance that the parent
// has the argument in or, where the parent reduces, its accumulator), and no child uses them yet. From the
// launch of a child that conflicts with the parent's accessor until the parent has waited for it, the home
// is *on loan*: the accessor is invalid.
//
// Owner: the thread that runs the parent's body.

#include <cstdint>
#include <memory>
#include <unordered_set>

#include "analysis/field_state.hpp"
#include "refrain/privilege.hpp"
#include "refrain/reduction.hpp"

namespace refrain::runtime {

/// Whom the parent still has to wait for. Counted launch by launch and not looked up in the graph, so that it
/// is the same in every run, and with every mapping, whether an accessor is valid.
class Loan {
 public:
  /// To a point task that has a future.
  void to(std::uint64_t task, Privilege privilege) {
    Borrowers& borrowers = of(privilege);
    borrowers.tasks.insert(task);
    if (borrowers.tasks.size() > most) until_fence(privilege);
  }
  /// To somebody for whom only a fence waits.
  void until_fence(Privilege privilege) { of(privilege) = {true, {}}; }
  /// Whoever comes next uses all of it like this: after those before, but readers not after readers.
  void supersede(Privilege privilege) {
    writers_ = {};
    if (privilege != Privilege::read) readers_ = {};
  }
  /// The parent has waited for the task.
  void waited_for(std::uint64_t task) {
    writers_.tasks.erase(task);
    readers_.tasks.erase(task);
  }
  void end() { writers_ = readers_ = {}; }
  [[nodiscard]] bool open() const { return writers_.any() || readers_.any(); }

 private:
  /// Tasks for whose futures nobody waits are not remembered one by one for ever.
  static constexpr std::size_t most = 1 << 16;
  struct Borrowers {
    bool until_fence = false;
    std::unordered_set<std::uint64_t> tasks{};  ///< their sequence numbers
    [[nodiscard]] bool any() const { return until_fence || !tasks.empty(); }
  };
  Borrowers& of(Privilege privilege) { return privilege == Privilege::read ? readers_ : writers_; }
  Borrowers writers_, readers_;
};

struct Grant {
  const data::RegionTree* root = nullptr;  ///< the tree whose data it is
  std::uint32_t field = 0;                 ///< index in the tree's field space
  data::IndexSpaceRef points;
  Privilege privilege = Privilege::read;
  const ReductionOp* op = nullptr;  ///< of Privilege::reduce
  std::unique_ptr<analysis::FieldState> state;
  analysis::Instance* home = nullptr;  ///< borrowed; perhaps none where there are no points
  Loan loan;

  /// Whether a child may have this access to some of its points.
  [[nodiscard]] bool allows(Privilege asked, const ReductionOp* asked_op) const;
  /// Whether a child with this access to some of its points and the parent's accessor exclude each other.
  [[nodiscard]] bool conflicts(Privilege asked) const {
    return asked != Privilege::read || writes(privilege);
  }
};

}  // namespace refrain::runtime
