#include "support/rounds.hpp"

#include <cstdio>

#include "support/peer_process.hpp"

namespace refrain::bench {

namespace {

void measure_once(Contestant& contestant, bool keep) {
  if (!contestant.lost.empty()) return;
  try {
    const double sample = contestant.measure();
    if (keep) contestant.samples.push_back(sample);
  } catch (const Peer::Lost& reason) {
    contestant.lost = reason.what();
    contestant.samples.clear();
    std::printf("left out: %s: %s\n", contestant.name().c_str(), reason.what());
    std::fflush(stdout);
  }
}

}  // namespace

void run_rounds(std::vector<Contestant>& contestants, int rounds) {
  for (int round = -1; round < rounds; ++round) {
    const std::size_t n = contestants.size();
    for (std::size_t i = 0; i < n; ++i) {
      measure_once(contestants[round % 2 == 0 ? i : n - 1 - i], round >= 0);
    }
  }
}

const Contestant* find_finished(const std::vector<Contestant>& contestants,
                                const std::string& system, const std::string& variant) {
  for (const Contestant& c : contestants) {
    if (c.system == system && c.variant == variant && c.finished()) return &c;
  }
  return nullptr;
}

}  // namespace refrain::bench
