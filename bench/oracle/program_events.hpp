#pragma once
// Events as programs raise them, numbered in the order in which they first come. A shorter stream is the beginning of a
// longer one.
//
// The program streams of the tests (tests/support/streams.hpp: a main loop with bodies of 20 to 1000, between whose
// iterations other things come irregularly), and:
//   regular   a time step: 12 events, 10 times 8, 4 times 25; a check after each 20; always the same
//   short     loops in loops of bodies of 5, 2 to 6 iterations each
//   wide      a body of 500, of whose ten parts each is left out one time in twenty
//   levels    loops of four levels, bodies of 6 to 15, of 3 to 7 iterations

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace refrain::bench {

using Events = std::vector<std::uint32_t>;

/// Of all of these.
std::vector<std::string> program_names();
/// Whether the program goes on to raise events that it has not raised before. (Phases and drifting do: their
/// grammars grow as the run does, out of the caches.)
bool keeps_changing(const std::string& name);

Events program_events(const std::string& name, std::size_t size);

/// The program `regular`, one iteration of what always repeats: so that any number of events can be had from it.
Events regular_iteration();

}  // namespace refrain::bench
