#pragma once
// The mapping search: finds a mapping under which a program is fast, by running it (Teixeira et al., "Automated Mapping
// of Task-Based Programs onto Distributed and Heterogeneous Machines", SC'23). A library of its own: it knows a program
// by its search space, and how to run it by an evaluator.

#include <cstdint>
#include <optional>
#include <vector>

#include "map_search/database.hpp"
#include "map_search/evaluations.hpp"
#include "map_search/evaluator.hpp"
#include "map_search/space.hpp"

namespace refrain::map_search {

enum class Algorithm : std::uint8_t {
  ccd,         ///< constrained coordinate-wise descent (section 4.2)
  cd,          ///< coordinate-wise descent (section 4.1)
  ensemble,    ///< several techniques and a bandit (section 4.3)
  random,      ///< each mapping drawn alone
  annealing,   ///< simulated annealing
  exhaustive,  ///< all mappings
  given,       ///< Options::given, after the starting point
};

enum class Distributions : std::uint8_t {
  leader_blocked,  ///< the space's first two, which are the paper's
  all,
};

struct Options {
  Algorithm algorithm = Algorithm::ccd;
  /// Without a bound of the budget, ccd and cd end by themselves; the others when all mappings were run.
  Limits limits;
  std::size_t rotations = 5;   ///< of ccd
  bool by_gain = false;        ///< ccd is followed by a descent by gain: for cheap evaluations
  std::vector<Mapping> given;  ///< mappings that somebody else proposes
  Distributions distributions = Distributions::leader_blocked;
  std::uint64_t seed = 1;  ///< of ensemble, random and annealing
  /// The best ones and the starting point run again, in turns. With 0 of either, the search alone decides.
  std::size_t finalists = 5, final_runs = 30;
};

/// Why a search ended.
enum class End : std::uint8_t {
  done,     ///< the algorithm came to its end
  budget,   ///< the budget was spent before
  stopped,  ///< `Limits::stop` said so; there were no final runs, or not all
};

struct Result {
  /// The best mappings, the best first: by the final runs, or by those of the search where there were no final ones.
  /// Empty where no mapping works; `failures` says why.
  std::vector<Candidate> finalists;
  /// The starting point, which every algorithm but the exhaustive one tries first; by the final runs, where there were
  /// any. None where it was not run.
  std::optional<Candidate> start;
  std::vector<Candidate>
      failures;  ///< mappings that failed, in the order in which they were found out
  Counts counts;
  double spent = 0;  ///< seconds of the budget
  double size = 0;   ///< mappings of the space that can be executed
  End end = End::done;
};

/// `database`: may be null; else it was opened for this space. Throws InvalidSpace; DatabaseError when a measurement
/// cannot be written (what was written stays, and another search goes on from there); what the evaluator throws.
[[nodiscard]] Result search(const Space& space, Evaluator& evaluator, Database* database,
                            const Options& options);

}  // namespace refrain::map_search
