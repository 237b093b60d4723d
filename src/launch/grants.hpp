#pragma once
// The data of a parent task that its children may use: a grant for each region argument of the parent.
//
// The values of a grant begin in one place, its *home*: the parent's instance or, where the parent reduces, its
// accumulator. A child that conflicts with the parent's accessor takes the home *on loan*. Until the parent has waited
// for that child, the accessor is invalid.
//
// Owner: the thread that runs the parent's body.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analysis/field_state.hpp"
#include "launch/launch_plan.hpp"
#include "refrain/privilege.hpp"
#include "refrain/reduction.hpp"

namespace refrain::runtime {

/// The children that the parent still has to wait for. Launches are counted, nodes are not looked up: so an accessor is
/// valid at the same places in every run, with every mapping.
class Loan {
 public:
  /// To a point task that has a future: its sequence number.
  void to(std::uint64_t task, Privilege privilege) {
    if (readers_.size() + writers_.size() >= kMost) readers_ = writers_ = {kUntilFence};
    (privilege == Privilege::read ? readers_ : writers_).insert(task);
  }
  /// To a child that only a fence waits for.
  void until_fence(Privilege privilege) { to(kUntilFence, privilege); }
  /// The next child uses all of the data: it comes after the others, but a reader not after readers.
  void supersede(Privilege privilege) {
    writers_.clear();
    if (privilege != Privilege::read) readers_.clear();
  }
  /// The parent has waited for the task.
  void waited_for(std::uint64_t task) {
    readers_.erase(task);
    writers_.erase(task);
  }
  void end() {
    readers_.clear();
    writers_.clear();
  }
  [[nodiscard]] bool open() const { return !readers_.empty() || !writers_.empty(); }

 private:
  static constexpr std::uint64_t kUntilFence = ~std::uint64_t{0};
  /// Beyond this number a fence has to come.
  static constexpr std::size_t kMost = 1 << 16;
  std::set<std::uint64_t> readers_, writers_;
};

struct Grant {
  const data::RegionTree* root = nullptr;  ///< the tree that has the data
  std::uint32_t field = 0;                 ///< index in the tree's field space
  data::IndexSpaceRef points;
  Privilege privilege = Privilege::read;
  const ReductionOp* op = nullptr;  ///< of Privilege::reduce
  std::unique_ptr<analysis::FieldState> state;
  analysis::Instance* home = nullptr;  ///< borrowed; none where there are no points
  Loan loan;

  /// Whether a child may have this access to some of the points.
  [[nodiscard]] bool allows(Privilege asked, const ReductionOp* asked_op) const;
  /// Whether a child with this access and the parent's accessor exclude each other.
  [[nodiscard]] bool conflicts(Privilege asked) const {
    return asked != Privilege::read || writes(privilege);
  }
};

/// The grants of one context, by requirement of the parent's launch; the program's context has none.
struct Grants {
  std::vector<Grant> all;

  [[nodiscard]] bool empty() const { return all.empty(); }
  /// The state of a field for a child with this access to the region. UsageError names `who` and, as the parent, `task`.
  analysis::FieldState& field_state(const data::RegionTree& root, std::uint32_t field,
                                    const AnyRegion& region, Privilege privilege,
                                    const ReductionOp* op, const std::string& who,
                                    const std::string& task) const;
  /// A launch uses arguments of the parent; null: it has no result.
  void lend(const LaunchPlan& plan, const detail::FutureState* result);
  /// Another operation does, which only a fence waits for.
  void lend(const analysis::FieldState& field, Privilege privilege);
};

}  // namespace refrain::runtime
