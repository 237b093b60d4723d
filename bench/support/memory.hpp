#pragma once
// Resident memory of this process, and the cost of walking over memory: the yardstick against which
// growth in time is judged. Linux only (/proc). Any thread.

#include <cstddef>

namespace refrain::bench {

/// Bytes resident now, and at most so far. 0 when /proc does not tell.
std::size_t resident_bytes();
std::size_t peak_resident_bytes();

/// Makes the peak start again from what is resident now. False when the kernel refuses.
bool reset_peak_resident();

/// Nanoseconds per step of a dependent walk over `bytes` bytes, one load per `stride` bytes, in a
/// random order: what it costs at least to touch one of that many objects. The fastest of `reps`
/// walks of at least 2^18 steps. Requires stride >= sizeof(void*) and bytes >= 2 * stride.
double bare_walk_ns(std::size_t bytes, std::size_t stride, int reps);

}  // namespace refrain::bench
