#pragma once
// How long operations of a run have waited for values that other cores had in their caches (capture/shared_lines.hpp). How
// much longer such writes take is a matter of the machine, some 100 ps a byte where a write takes 18: so it is measured.
//
// One thread at a time. Memory: some 10^5 blocks of values at most; then what was known of all of them is forgotten.

#include <cstdint>
#include <map>
#include <span>
#include <thread>

#include "capture/shared_lines.hpp"
#include "launch/listener.hpp"

namespace refrain::runtime {

class CoreWaits {
 public:
  /// Measures for some 20 ms, with a thread of its own. Where the process has one core, or no thread, nothing waits.
  CoreWaits();
  [[nodiscard]] const capture::Costs& shared_writes() const { return shared_writes_; }
  /// The present thread has worked on these. How much of that was waiting, in seconds.
  double of(std::span<const Listener::Used> used);

 private:
  capture::Costs shared_writes_;
  capture::SharedLines lines_;
  std::map<std::thread::id, std::uint32_t> cores_;  ///< one for each thread
};

}  // namespace refrain::runtime
