#pragma once
// Side by side: several systems measured in one run, repetition by repetition in turn. A round asks
// every contestant once; every other round goes through them backwards, so that a drift of the
// machine, or what one leaves in the caches for the next, favours none. One thread.

#include <functional>
#include <string>
#include <vector>

#include "support/statistics.hpp"

namespace refrain::bench {

struct Contestant {
  std::string system;
  std::string variant;
  std::function<double()> measure;  ///< one repetition; throws Peer::Lost when it cannot go on
  std::vector<double> samples{};  ///< filled by run_rounds, one per round, same index = same round
  std::string lost{};             ///< why it was left out; "" if it was not

  bool finished() const { return lost.empty() && !samples.empty(); }
  std::string name() const { return variant.empty() ? system : system + " (" + variant + ")"; }
};

/// Runs one unrecorded round to warm up and then `rounds` recorded ones. A contestant that is lost
/// takes no further part, keeps no samples and is named on standard output.
void run_rounds(std::vector<Contestant>& contestants, int rounds);

/// The contestant of that name that finished, or nullptr.
const Contestant* find_finished(const std::vector<Contestant>& contestants,
                                const std::string& system, const std::string& variant = "");

}  // namespace refrain::bench
