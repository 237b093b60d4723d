#pragma once
// Launches the window of pending element-wise operations: as one task per tile, by the run-time launch API.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fusion/plan.hpp"
#include "fusion/window.hpp"

namespace refrain::arrays {

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
    launch();
    released_.assign(window.values().begin(), window.values().end());
    window.clear();
    for (detail::Value* value : released_)
      if (value->handles == 0) dead(*value);
  }
  [[nodiscard]] std::uint64_t launches() const { return launches_; }

 private:
  void launch();
  bool take_needed();
  const std::shared_ptr<const Plan>& plan();
  const DynamicTask& task_for(const std::vector<Step>& steps);
  void find_storage();

  Context& context_;
  Pool& pool_;
  RangesTable& ranges_;
  std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<const Plan>>> plans_;
  std::size_t plan_count_ = 0;
  std::map<std::string, std::unique_ptr<DynamicTask>> tasks_;
  std::uint64_t launches_ = 0;

  // What is worked on, kept for its memory.
  WindowText text_;
  std::vector<detail::Value*> slots_, released_;
  std::vector<std::uint16_t> numbers_;  // those that are needed, by their number in the window
  std::vector<std::uint16_t> renamed_steps_, renamed_loads_, renamed_slots_;
  std::vector<std::uint64_t> key_;
  std::vector<Requirement> requirements_;
};

}  // namespace refrain::arrays
