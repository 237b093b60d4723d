#pragma once
// Runs of an OpenMP program, with the preload library and without. One thread.

#include <string>

#include "support/temporary_file.hpp"

namespace refrain::bench {

/// Of the library's environment: what is recorded, what it predicts by, and its settings, "A=1 B=2".
struct Oracle {
  const TemporaryFile* record = nullptr;
  const TemporaryFile* reference = nullptr;
  std::string settings{};
};

/// The seconds that the command prints first on its standard output; of one that prints nothing those it took, as a
/// process. `variables`: of its environment, in which there are no others of OpenMP. Throws Peer::Lost if it fails.
double seconds_of(const std::string& command, const std::string& variables);
/// The same with the library.
double seconds_of(const std::string& command, const Oracle& oracle, const std::string& variables);

}  // namespace refrain::bench
