#pragma once
// Runs like those of programs, as events, for sizes of the problem: what depends on the size are the numbers of
// repetitions (section III-A2 of PYTHIA: the same program with a small and with larger working sets). And noise for
// them.

#include <cstdint>
#include <string>
#include <vector>

namespace refrain::bench {

using Events = std::vector<std::uint32_t>;

/// stencil     time steps with an exchange and, every tenth, a reduction
/// solver      time steps, in each as many iterations as the size says
/// sweeps      wavefronts over as many planes as the size says, forwards and backwards
/// multigrid   cycles over levels, one more for each doubling
/// branches    a body with two parts that are left out at random
/// particles   steps with random messages between
extern const std::vector<std::string> program_runs;

/// Size 1 is the one to be recorded: hundreds to thousands of events. `seed`: of what is random.
Events program_run(const std::string& name, int size, std::uint64_t seed);

enum class Noise { inserted, skipped, swapped };

/// An event as it is submitted, and which of the run's it is.
struct Submitted {
  std::uint32_t event;
  bool is_real;
};
/// With that many percent of the events inserted behind (any event of the run, one time in ten one that never
/// came), left out, or come after the next one.
std::vector<Submitted> with_noise(const Events& run, Noise noise, int percent, std::uint64_t seed);

}  // namespace refrain::bench
