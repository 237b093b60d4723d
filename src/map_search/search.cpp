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
  const auto descend = [&](std::size_t rotations) {
    constrained_descent(
        space, [&](const Mapping& mapping) { return evaluations.evaluate(mapping); }, rotations);
  };
  switch (options.algorithm) {
    case Algorithm::ccd: return descend(std::max<std::size_t>(1, options.rotations));
    case Algorithm::cd: return descend(1);
    case Algorithm::ensemble: return ask_for(ensemble(space));
    case Algorithm::random: return ask_for(random_search(space));
    case Algorithm::annealing: return ask_for(annealing(space));
    case Algorithm::exhaustive: return exhaust(space, evaluations);
  }
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
    result.finalists = evaluations.compare(result.finalists, options.final_runs);
  result.failures = evaluations.failures();
  result.counts = evaluations.counts();
  result.spent = evaluations.spent();
  return result;
}

}  // namespace refrain::map_search
