#pragma once
// Finds the plan of a launch, or makes it when the launch is seen for the first time: checks and signs the launch,
// chooses the own points, finds their regions, and asks the mapper about them.
//
// A mapper is asked once for a plan that is remembered, or at every launch (Mapper::every_launch). In the second case a
// launch has two plans. The one without a mapping is found by the launch's key, the other by the first one's number and
// the mapper's answers. Answers that were given before find their plan; for others the first plan is copied and mapped.
//
// Owner: the context's thread. Cost: a plan that is remembered is found by its key in a hash table.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "launch/context_core.hpp"

namespace refrain::runtime {

/// Within a handler of what the mapper threw.
[[noreturn]] void fail_mapper(const Mapper& mapper, const LaunchRequest& request,
                              const std::string& where);

class Planner {
 public:
  explicit Planner(ContextCore& context) : context_(context) {}

  /// The launch as words of this process; good until the next call. UsageError when a handle is dead. Before, plans end
  /// that nobody will find, and with them perhaps tasks, whose captures may make calls.
  std::span<const std::uint64_t> make_key(const LaunchRequest& request);
  /// The plan of the launch with this key.
  LaunchPlan& plan_of(const LaunchRequest& request, std::span<const std::uint64_t> key) {
    LaunchPlan* const plan = plans_.find(key);
    return plan != nullptr ? *plan : add_plan(request, key);
  }
  /// The same where the mapper has to be asked about this launch; null: it need not.
  LaunchPlan* asked_plan(const LaunchRequest& request, std::span<const std::uint64_t> key) {
    bool asked = false;
    try {
      asked = is_mapper_asked(context_);
    } catch (...) { fail_mapper(context_.runtime.mapper(), request, ": every_launch()"); }
    return asked ? &plan_by_answers(request, key) : nullptr;
  }
  /// Before the plan is issued: its footprints are made ready for use.
  void wake(LaunchPlan& plan) {
    if (plan.awake != tidied_) [[unlikely]]
      wake_all(plan);
  }
  /// Plans that are remembered.
  [[nodiscard]] std::size_t size() const { return plans_.size(); }

 private:
  LaunchPlan& plan_by_answers(const LaunchRequest& request, std::span<const std::uint64_t> key);
  LaunchPlan& add_plan(const LaunchRequest& request, std::span<const std::uint64_t> key);
  /// Without the mapper's answers.
  std::unique_ptr<LaunchPlan> make_unmapped(const LaunchRequest& request,
                                            std::span<const std::uint64_t> key);
  void plan_arguments(LaunchPlan& plan, const LaunchRequest& request, ArgumentNames& names);
  void tidy(analysis::FieldState& field);
  void wake_all(LaunchPlan& plan);

  ContextCore& context_;
  PlanCache plans_;
  std::vector<std::uint64_t> key_;  ///< scratch
  std::uint64_t tidied_ = 0;        ///< how often a field's footprints have been (FieldState::tidy)
  std::uint64_t unmapped_ = 0;      ///< plans without a mapping that were made, for plan_by_answers
  MappingOutput answer_;            ///< scratch
  std::vector<std::uint64_t> asked_key_;  ///< scratch
};

}  // namespace refrain::runtime
