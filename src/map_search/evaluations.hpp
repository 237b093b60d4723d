#pragma once
// What a search asks about mappings, and what it has learnt. Each proposal of an algorithm passes through here (the
// paper's EvaluateMapping): a mapping that was proposed before is not run again, one that cannot be executed is not run
// at all, and every run is written down before the next begins.
//
// The budget is the cost of the runs, as the evaluator reports it. A run that the database has already is charged like
// one that is made: so a search depends on the measurements alone, and one that was killed and begun again proposes the
// same mappings and comes to the same end as one that was not. Owner: one thread.

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "map_search/database.hpp"
#include "map_search/evaluator.hpp"
#include "map_search/measure.hpp"
#include "map_search/space.hpp"

namespace refrain::map_search {

struct Counts {
  std::size_t proposed = 0;   ///< by the algorithm: the sum of the next three
  std::size_t repeated = 0;   ///< known already
  std::size_t invalid = 0;    ///< not executable: never run
  std::size_t evaluated = 0;  ///< different mappings that were run
  std::size_t failed = 0;     ///< of those evaluated, in the final comparison, too
  std::size_t runs = 0;       ///< made by this search
  std::size_t recorded = 0;   ///< found in the database
};

/// A mapping and what was measured of it.
struct Candidate {
  Mapping mapping;
  Measurement measured;
};

/// What is known when a run begins.
struct Progress {
  const Mapping& trying;
  Phase phase = Phase::search;
  const Candidate* best = nullptr;  ///< so far; null while there is none
  const Counts& counts;
  double spent = 0;  ///< seconds of the budget
};

struct Limits {
  std::size_t runs = 7;  ///< of each mapping (artifact appendix)
  /// Seconds. A mapping whose first run begins within the budget gets all its runs.
  double budget = std::numeric_limits<double>::infinity();
  Objective objective = Objective::time;
  std::function<void(const Progress&)> progress;  ///< called before each run that is made
  std::function<bool()>
      stop;  ///< asked before each run; true ends the search as if the budget were spent
};

class Evaluations {
 public:
  /// `database`: may be null. All arguments outlive this.
  Evaluations(const Space& space, Evaluator& evaluator, Database* database, const Limits& limits);

  /// What the mapping is worth: less is better, infinity for what fails or cannot be executed. Once the search is over,
  /// nothing is run or counted, and the answer is infinity.
  double evaluate(const Mapping& mapping);
  /// The budget is spent, or `stop` said so.
  [[nodiscard]] bool over();
  [[nodiscard]] bool knows(const Mapping& mapping) const { return known_.contains(mapping); }
  /// What was measured of it, if it was run.
  [[nodiscard]] std::optional<Candidate> measured(const Mapping& mapping) const;
  /// All mappings that can be executed are known.
  [[nodiscard]] bool complete() const;
  /// `stop` said so.
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// Asks it.
  bool stopping();

  /// The best mappings that work, the best first; of equal ones the one that was found first.
  [[nodiscard]] std::vector<Candidate> best(std::size_t count) const;
  /// Runs these once more, `runs` times each, in turns: what changes on the machine meanwhile affects all alike. Sorted
  /// by the new measurements, without those that failed (they are in `failures`). No part of the budget.
  [[nodiscard]] std::vector<Candidate> compare(const std::vector<Candidate>& candidates,
                                               std::size_t runs);

  /// Mappings that failed, in the order in which they were found out.
  [[nodiscard]] const std::vector<Candidate>& failures() const { return failures_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] double spent() const { return spent_; }
  [[nodiscard]] double budget() const { return limits_.budget; }

 private:
  /// One run more of a mapping: the recorded one, or one that is made.
  Run run(const Mapping& mapping, const std::string& name, Phase phase,
          const std::vector<Run>& recorded, std::size_t number);
  [[nodiscard]] std::vector<Run> recorded(const std::string& name, Phase phase) const;
  Measurement measure(const Mapping& mapping);
  [[nodiscard]] double value(const Candidate& candidate) const {
    return candidate.measured.value(limits_.objective);
  }

  const Space& space_;
  Evaluator& evaluator_;
  Database* database_;
  const Limits& limits_;
  double size_;
  std::unordered_map<Mapping, std::size_t, MappingHash> known_;  ///< where it is in `measured_`
  std::vector<Candidate> measured_;                              ///< in the order of evaluation
  std::size_t best_ = 0;                                         ///< in `measured_`
  std::vector<Candidate> failures_;
  Counts counts_;
  double spent_ = 0;
  bool stopped_ = false;
};

}  // namespace refrain::map_search
