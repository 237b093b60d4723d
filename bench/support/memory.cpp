#include "support/memory.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "support/clock.hpp"

namespace refrain::bench {

namespace {

std::size_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    std::istringstream rest(line.substr(key.size()));
    std::size_t kib = 0;
    rest >> kib;
    return kib * 1024;
  }
  return 0;
}

/// Links the objects to one random cycle, so that neither the order of the loads nor their overlap
/// can be guessed by the processor.
void link_randomly(std::byte* memory, std::size_t stride, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  for (std::size_t i = 0; i < count; ++i) {
    void* next = memory + order[(i + 1) % count] * stride;
    std::memcpy(memory + order[i] * stride, &next, sizeof next);
  }
}

}  // namespace

std::size_t resident_bytes() { return status_bytes("VmRSS:"); }

std::size_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

bool reset_peak_resident() {
  std::ofstream refs("/proc/self/clear_refs");
  refs << "5";
  return static_cast<bool>(refs.flush());
}

double bare_walk_ns(std::size_t bytes, std::size_t stride, int reps) {
  const std::size_t count = bytes / stride;
  const auto memory = std::make_unique<std::byte[]>(count * stride);
  link_randomly(memory.get(), stride, count);
  const std::size_t steps = std::max<std::size_t>(count, std::size_t{1} << 18);
  double best = std::numeric_limits<double>::infinity();
  void* at = memory.get();
  for (int rep = 0; rep < reps; ++rep) {
    const std::int64_t start = now_ns();
    for (std::size_t i = 0; i < steps; ++i) std::memcpy(&at, at, sizeof at);
    asm volatile("" : "+r"(at));
    best = std::min(best, static_cast<double>(now_ns() - start) / static_cast<double>(steps));
  }
  return best;
}

}  // namespace refrain::bench
