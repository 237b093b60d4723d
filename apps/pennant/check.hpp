#pragma once
// Whether a result is right, beyond that all programs have the same: energy is kept, and on the built-in decks
// densities, energies and pressures are those that are known. Each check prints a line; false when it has failed.

#include <string>

#include "state.hpp"

namespace pennant {

bool check_energy(const Deck& deck, const Energy& before, const Energy& after);

/// For a built-in deck as it is; true for any other.
bool check_known(const Deck& deck, const State& state);

/// Against a file of PENNANT's results (.xy.std). A file that is not there is told, and fails nothing. The pressure of
/// cold gas is a rounding error: differences below 1e-18 of the largest value do not count.
bool check_gold(const std::string& file, const State& state);

}  // namespace pennant
