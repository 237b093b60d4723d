#pragma once
// Launches the window of pending element-wise operations: as one task per tile, by the run-time launch API.

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "check.hpp"
#include "fusion/plan.hpp"
#include "fusion/window.hpp"

namespace refrain::arrays::detail {

class Fuser {
 public:
  Fuser(Context& context, Pool& pool, RangesTable& ranges)
      : context_(context), pool_(pool), ranges_(ranges) {}

  Window window;
  /// Launches what is in the window, and gives the values that it computes their storage. Values that it held and
  /// that nobody refers to are told to `dead`, in the order in which they came into the window.
  template <class Dead>
  void flush(Dead&& dead) {
    if (window.empty()) return;
    if (take_needed(Wanted::everything, nullptr)) launch(window_plan(), {});
    close(dead);
  }

  /// Launches what the window writes to arrays that are there, if the new arrays in it can be computed later; they
  /// stay in it.
  template <class Dead>
  void flush_stores(Dead&& dead) {
    if (!window.can_keep_results()) return;
    if (take_needed(Wanted::stores, nullptr)) launch(window_plan(), {});
    window.keep_results(released_);
    end_unseen(dead);
  }

  /// How the window is launched together with a reduction of what one of its steps or loads computes; `terms` is the
  /// array that this is, which one handle fewer refers to than it seems. Null: the window has to be launched first.
  std::shared_ptr<const Plan> plan_reduction(const ReductionText& reduction, const Value& terms,
                                             Coord most_points);
  /// Launches that, with the results in these arrays. The window is as it was planned.
  template <class Dead>
  void reduce(const std::shared_ptr<const Plan>& plan, std::span<Storage* const> results,
              Dead&& dead) {
    REFRAIN_ARRAYS_CHECK(window.revision() == planned_, "the window that is launched was planned");
    launch(plan, results);
    close(dead);
  }
  /// Forgets what is in the window: what it should have written is lost.
  template <class Dead>
  void abandon(Dead&& dead) {
    for (const Window::Write& write : window.writes()) write.value->lost = true;
    close(dead);
  }
  [[nodiscard]] std::uint64_t launches() const { return launches_; }

 private:
  enum class Wanted : std::uint8_t { everything, stores };
  bool take_needed(Wanted wanted, const Value* spare);
  void copy_needed();
  std::uint16_t slot_of(Value* value);
  const std::shared_ptr<const Plan>* find_plan();
  const std::shared_ptr<const Plan>& keep_plan(std::unique_ptr<Plan> made);
  std::shared_ptr<const Plan> window_plan();
  void launch(const std::shared_ptr<const Plan>& plan, std::span<Storage* const> results);

  template <class Dead>
  void close(Dead& dead) {
    released_.assign(window.values().begin(), window.values().end());
    window.clear();
    end_unseen(dead);
  }
  template <class Dead>
  void end_unseen(Dead& dead) {
    for (Value* value : released_)
      if (value->handles == 0) dead(*value);
  }

  Context& context_;
  Pool& pool_;
  RangesTable& ranges_;
  struct Known {
    std::vector<std::uint64_t> key;
    std::shared_ptr<const Plan> plan;  // null: a reduction that cannot join
  };
  std::unordered_map<std::uint64_t, std::vector<Known>> plans_;
  std::size_t plan_count_ = 0;
  std::uint64_t launches_ = 0;

  // What is worked on, kept for its memory.
  WindowText text_;
  const ReductionText* reduction_ = nullptr;  // that is being planned
  std::uint64_t planned_ = 0;  // the window's revision when a reduction was planned last
  std::vector<Value*> slots_, released_;
  std::vector<Constant> constants_;
  Needed needed_;
  std::vector<const Window::Write*> stores_;
  std::vector<std::uint64_t> key_;
  std::uint64_t key_hash_ = 0;
  std::vector<Requirement> requirements_;
};

}  // namespace refrain::arrays::detail
