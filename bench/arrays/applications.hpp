#pragma once
// The applications that use arrays, as programs: each run is a process of its own, and prints its speed.

#include <cstdint>
#include <string>
#include <vector>

namespace refrain::bench {

/// Who computes: Refrain's program with some flags, or its twin in NumPy.
struct System {
  const char* name;
  const char* variant;
  std::vector<std::string> flags;
  bool numpy = false;
};

struct Application {
  const char* name;  ///< of its folder
  /// The flags for arrays of about so many elements.
  std::vector<std::string> (*flags)(std::int64_t elements);
};

const std::vector<Application>& applications();

/// What one run told.
struct Run {
  double iterations_per_second = 0;
  double peak_bytes = 0;  ///< resident, at most
};

/// Runs it for so many iterations after a warm-up. Throws std::runtime_error with its output when it fails.
Run run(const Application& application, const System& system, std::int64_t elements,
        std::int64_t iterations, std::int64_t warm_up, const std::string& programs);

}  // namespace refrain::bench
