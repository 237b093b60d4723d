#pragma once
// What the environment asks of this library; docs/oracle-openmp.md names the variables. Read once, at the first use.

#include "gomp/team_sizes.hpp"

namespace refrain::gomp {

/// Who chooses the size of a team (REFRAIN_ORACLE_THREADS).
enum class Choice { learn, thresholds, program };

/// Which teams may be other than the program asked for (REFRAIN_ORACLE_TEAMS).
enum class Teams {
  safe,  ///< where the program cannot tell
  any    ///< all that OpenMP would let it have without a clause
};

struct Settings {
  Choice choice = Choice::learn;
  Teams teams = Teams::safe;
  bool recorded = false;       ///< whether the run is (REFRAIN_ORACLE_RECORD)
  Thresholds thresholds;       ///< REFRAIN_ORACLE_THRESHOLDS
  bool limit_clauses = false;  ///< num_threads(n) means at most n (REFRAIN_ORACLE_CLAUSES=limit)
  bool keep_threads = true;    ///< of shrunk teams (REFRAIN_ORACLE_KEEP_THREADS=yes, no)
  double unexpected =
      0;  ///< events that did not happen, per event of a region (REFRAIN_ORACLE_UNEXPECTED, in %)

  /// Of the environment. What it cannot read it names on stderr, and leaves as it is.
  static const Settings& get();
};

}  // namespace refrain::gomp
