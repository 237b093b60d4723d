#pragma once
// How much main memory the process may use, and who says so: the machine's, or less where a control group (memory.max,
// memory.high, or version 1's memory.limit_in_bytes, of its own group or one around it) or a limit of the process
// (ulimit -v, -d) allows less. What happens to be free is not asked: it changes while a program runs.

#include <cstddef>
#include <cstdint>
#include <string>

namespace refrain::machine {

struct MainMemory {
  std::uint64_t bytes = 0;
  std::string
      why;  ///< "all that the machine has", "what memory.max of the control group '/a' allows"
};

/// `root` stands before the paths that are read, for tests.
MainMemory find_main_memory(const std::string& root = {});

/// What a NUMA domain has of `usable` bytes: in proportion to the memory that the hardware shows for it, of all that it
/// shows; evenly where it shows nothing.
std::uint64_t share_of_domain(std::uint64_t usable, std::uint64_t found, std::uint64_t in_all,
                              std::size_t domains);

}  // namespace refrain::machine
