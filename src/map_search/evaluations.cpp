#include "map_search/evaluations.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace refrain::map_search {

Evaluations::Evaluations(const Space& space, Evaluator& evaluator, Database* database,
                         const Limits& limits)
    : space_(space),
      evaluator_(evaluator),
      database_(database),
      limits_(limits),
      size_(size(space)) {}

double Evaluations::evaluate(const Mapping& mapping) {
  if (over()) return std::numeric_limits<double>::infinity();
  ++counts_.proposed;
  if (const auto found = known_.find(mapping); found != known_.end()) {
    ++counts_.repeated;
    return value(measured_[found->second]);
  }
  if (!executable(space_, mapping)) {
    ++counts_.invalid;
    return std::numeric_limits<double>::infinity();
  }
  Candidate candidate{mapping, measure(mapping)};
  ++counts_.evaluated;
  if (candidate.measured.outcome != Outcome::ok) {
    ++counts_.failed;
    failures_.push_back(candidate);
  }
  known_.emplace(mapping, measured_.size());
  measured_.push_back(std::move(candidate));
  if (value(measured_.back()) < value(measured_[best_])) best_ = measured_.size() - 1;
  return value(measured_.back());
}

bool Evaluations::stopping() {
  stopped_ = stopped_ || (limits_.stop && limits_.stop());
  return stopped_;
}

bool Evaluations::over() { return stopping() || spent_ >= limits_.budget; }

std::optional<Candidate> Evaluations::measured(const Mapping& mapping) const {
  const auto found = known_.find(mapping);
  if (found == known_.end()) return std::nullopt;
  return measured_[found->second];
}

bool Evaluations::complete() const { return static_cast<double>(known_.size()) >= size_; }

std::vector<Run> Evaluations::recorded(const std::string& name, Phase phase) const {
  return database_ == nullptr ? std::vector<Run>() : database_->runs(name, phase);
}

Measurement Evaluations::measure(const Mapping& mapping) {
  const std::string name = text(space_, mapping);
  const std::vector<Run> before = recorded(name, Phase::search);
  std::vector<Run> runs;
  while (runs.empty() ||
         (runs.size() < limits_.runs && !stopping() && runs.back().outcome == Outcome::ok)) {
    runs.push_back(run(mapping, name, Phase::search, before, runs.size()));
    spent_ += runs.back().cost;
  }
  return measurement(runs);
}

Run Evaluations::run(const Mapping& mapping, const std::string& name, Phase phase,
                     const std::vector<Run>& recorded, std::size_t number) {
  if (number < recorded.size()) {
    ++counts_.recorded;
    return recorded[number];
  }
  if (limits_.progress) {
    const bool works = !measured_.empty() && measured_[best_].measured.outcome == Outcome::ok;
    limits_.progress({mapping, phase, works ? &measured_[best_] : nullptr, counts_, spent_});
  }
  Run made = evaluator_.run(mapping);
  if (made.outcome == Outcome::ok && !std::isfinite(made.seconds))
    made = {Outcome::no_output, 0, 0, made.cost, "the program printed a time that is no number"};
  ++counts_.runs;
  if (database_ != nullptr) database_->add(name, phase, number, made);
  return made;
}

std::vector<Candidate> Evaluations::best(std::size_t count) const {
  std::vector<Candidate> all;
  std::ranges::copy_if(measured_, std::back_inserter(all), [](const Candidate& candidate) {
    return candidate.measured.outcome == Outcome::ok;
  });
  std::ranges::stable_sort(all, {}, [&](const Candidate& candidate) { return value(candidate); });
  all.resize(std::min(all.size(), count));
  return all;
}

std::vector<Candidate> Evaluations::compare(const std::vector<Candidate>& candidates,
                                            std::size_t runs) {
  struct Finalist {
    Mapping mapping;
    std::string name;
    std::vector<Run> before, runs;
  };
  std::vector<Finalist> finalists;
  for (const Candidate& candidate : candidates) {
    std::string name = text(space_, candidate.mapping);
    std::vector<Run> before = recorded(name, Phase::final);
    finalists.push_back({candidate.mapping, std::move(name), std::move(before), {}});
  }
  for (std::size_t number = 0; number < runs; ++number)
    for (Finalist& finalist : finalists) {
      if (stopping()) return candidates;
      if (finalist.runs.empty() || finalist.runs.back().outcome == Outcome::ok)
        finalist.runs.push_back(
            run(finalist.mapping, finalist.name, Phase::final, finalist.before, number));
    }
  std::vector<Candidate> compared;
  for (Finalist& finalist : finalists) {
    Candidate candidate{std::move(finalist.mapping), measurement(finalist.runs)};
    const bool works = candidate.measured.outcome == Outcome::ok;
    if (!works) ++counts_.failed;
    (works ? compared : failures_).push_back(std::move(candidate));
  }
  std::ranges::stable_sort(compared, {}, [&](const Candidate& one) { return value(one); });
  return compared;
}

}  // namespace refrain::map_search
