#include "map_search/search.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "map_search/ccd.hpp"
#include "map_search/ensemble.hpp"
#include "map_search/technique.hpp"

namespace refrain::map_search {

namespace {

void run(const Space& space, Evaluations& evaluations, const Options& options) {
  const auto ask_for = [&](const std::unique_ptr<Technique>& technique) {
    ask(*technique, space, evaluations, options.seed);
  };
  const auto evaluate = [&](const Mapping& mapping) { return evaluations.evaluate(mapping); };
  switch (options.algorithm) {
    case Algorithm::ccd:
      constrained_descent(space, evaluate, std::max<std::size_t>(1, options.rotations));
      if (options.by_gain) descent_by_gain(space, evaluate);
      return;
    case Algorithm::cd: return constrained_descent(space, evaluate, 1);
    case Algorithm::ensemble: return ask_for(ensemble(space));
    case Algorithm::random: return ask_for(random_search(space));
    case Algorithm::annealing: return ask_for(annealing(space));
    case Algorithm::exhaustive: return exhaust(space, evaluations);
    case Algorithm::given:
      evaluations.evaluate(starting_point(space));
      for (const Mapping& mapping : options.given) evaluations.evaluate(mapping);
      return;
  }
}

/// The starting point takes part: what is called best is never slower than it was in the same comparison.
void compare(Evaluations& evaluations, std::size_t runs, Result& result) {
  const auto is_start = [&](const Candidate& candidate) {
    return result.start && candidate.mapping == result.start->mapping;
  };
  std::vector<Candidate> finalists = result.finalists;
  if (result.start && result.start->measured.outcome == Outcome::ok &&
      std::ranges::none_of(finalists, is_start))
    finalists.push_back(*result.start);
  result.finalists = evaluations.compare(finalists, runs);
  if (evaluations.stopped()) result.end = End::stopped;
  const auto start = std::ranges::find_if(result.finalists, is_start);
  if (start != result.finalists.end()) result.start = *start;
}

}  // namespace

Result search(const Space& whole, Evaluator& evaluator, Database* database,
              const Options& options) {
  check(whole);
  Space space = whole;
  if (options.distributions == Distributions::leader_blocked && space.distributions.size() > 2)
    space.distributions.resize(2);
  Evaluations evaluations(space, evaluator, database, options.limits);
  run(space, evaluations, options);

  Result result;
  const bool over = evaluations.over();
  result.end = evaluations.stopped() ? End::stopped : over ? End::budget : End::done;
  result.size = size(space);
  result.start = evaluations.measured(starting_point(space));
  result.finalists = evaluations.best(std::max<std::size_t>(1, options.finalists));
  if (result.end != End::stopped && options.finalists > 0 && options.final_runs > 0)
    compare(evaluations, options.final_runs, result);
  result.failures = evaluations.failures();
  result.counts = evaluations.counts();
  result.spent = evaluations.spent();
  return result;
}

}  // namespace refrain::map_search
