#pragma once
// A measurement in a process of its own: what was measured before it in this one (memory that was given back, and
// where it lies) cannot make it faster or slower.

#include <functional>
#include <vector>

namespace refrain::bench {

/// What `measure` returns in a child of this process, which has no other threads. Throws std::runtime_error if it ends
/// otherwise.
std::vector<double> forked(const std::function<std::vector<double>()>& measure);

}  // namespace refrain::bench
