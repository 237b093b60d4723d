#pragma once
// Finds the plan of a launch, or makes it when the launch is seen for the first time: checks and signs the launch,
// chooses the own points, finds their regions, and asks the mapper about them.
//
// A mapper is asked once for a plan that is remembered, or at every launch (Mapper::every_launch). In the second case a
// launch has two plans. The one without a mapping is found by the launch, the other by the first one's number and the
// mapper's answers; so a new plan is made of an old one, and only for answers that were not given before.
//
// Owner: the context's thread. Cost: a plan that is remembered is found by its key in a hash table.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "launch/context_core.hpp"

namespace refrain::runtime {

class Planner {
 public:
  explicit Planner(ContextCore& context) : context_(context) {}

  /// The launch as words of this process; good until the next call. UsageError when a handle is dead.
  std::span<const std::uint64_t> make_key(const LaunchRequest& request);
  /// The plan of the launch with this key.
  LaunchPlan& plan_of(const LaunchRequest& request, std::span<const std::uint64_t> key) {
    const std::uint64_t hash = PlanCache::hash(key);
    LaunchPlan* const plan = plans_.find(key, hash);
    return plan != nullptr ? *plan : add_plan(request, key, hash);
  }
  /// The same where the mapper has to be asked about this launch; null: it need not.
  LaunchPlan* asked_plan(const LaunchRequest& request, std::span<const std::uint64_t> key) {
    bool is_asked = false;
    try {
      is_asked = context_.runtime.mapper().every_launch();
    } catch (...) { fail_mapper(request, ": every_launch()"); }
    return is_asked ? &plan_by_answers(request, key) : nullptr;
  }
  /// Before the plan is issued: its footprints are made ready for use.
  void wake(LaunchPlan& plan) {
    if (plan.awake != tidied_) [[unlikely]]
      wake_all(plan);
  }
  /// Plans that are remembered, with a mapping.
  [[nodiscard]] std::size_t size() const { return plans_.size(); }

 private:
  /// Within a handler of what the mapper threw.
  [[noreturn]] void fail_mapper(const LaunchRequest& request, const std::string& where) const;
  LaunchPlan& plan_by_answers(const LaunchRequest& request, std::span<const std::uint64_t> key);
  LaunchPlan& add_plan(const LaunchRequest& request, std::span<const std::uint64_t> key,
                       std::uint64_t hash);
  LaunchPlan& unmapped_plan(const LaunchRequest& request, std::span<const std::uint64_t> key);
  /// Without the mapper's answers.
  std::unique_ptr<LaunchPlan> make_unmapped(const LaunchRequest& request,
                                            std::span<const std::uint64_t> key);
  void plan_points(LaunchPlan& plan, const LaunchRequest& request);
  void plan_arguments(LaunchPlan& plan, const LaunchRequest& request);
  /// Appends the mapper's answers to `words`, and tells them: told(own rank, answer).
  template <class Told>
  void ask(const LaunchPlan& plan, const LaunchRequest& request, std::vector<std::uint64_t>& words,
           Told told);
  void take_answer(LaunchPlan& plan, const LaunchRequest& request, std::size_t rank,
                   const MappingOutput& answer);
  void tidy(analysis::FieldState& field);
  void wake_all(LaunchPlan& plan);

  ContextCore& context_;
  PlanCache plans_;
  std::vector<std::uint64_t> key_;  ///< scratch
  std::uint64_t tidied_ = 0;        ///< how often a field's footprints have been (FieldState::tidy)
  /// For a mapper that is asked at every launch; made when first needed.
  struct Asked {
    PlanCache unmapped;
    std::uint64_t last_number = 0;
    std::vector<MappingOutput> answers;  ///< scratch
    std::vector<std::uint64_t> key;      ///< scratch
  };
  std::unique_ptr<Asked> asked_;
};

}  // namespace refrain::runtime
