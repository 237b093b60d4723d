#pragma once
// The flags that every benchmark takes, and the flags of one benchmark beside them.
//   --out FILE    write the records there
//   --reps N      repetitions (default: the benchmark's own)
//   --half        half the repetitions, at least 3, where --reps does not say how many; no bar is judged
//   --quick       a fast, rough run: fewer repetitions, less work; never used for a bar
//   --all         also what only the figures need, not the bars
//   --only A,B    only these systems
//   --peers DIR   where the peer programs are (default: beside the benchmark)

#include <string>
#include <vector>

namespace refrain::bench {

struct Options {
  std::string out;
  int reps = 0;  ///< never 0 after parse_options
  bool quick = false;
  bool all = false;
  std::vector<std::string> only;
  std::string peers;

  /// Whether `--only` leaves this system in.
  bool wants(const std::string& system) const;
};

/// Whether a bar is met, for people; with --half nothing is judged.
const char* verdict(bool met);

/// Reads the flags; `about` is the first line of --help. An unknown or badly valued flag prints a
/// line and exits with 2. `quick_reps` replaces `reps` under --quick.
Options parse_options(int argc, char** argv, const std::string& about, int reps, int quick_reps);

}  // namespace refrain::bench
