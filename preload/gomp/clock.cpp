#include "gomp/clock.hpp"

#include <algorithm>
#include <chrono>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace refrain::gomp {
namespace {

constexpr std::uint64_t known_after_ns = 200'000;
constexpr std::uint64_t set_each_ns = 1'000'000;

std::uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

/// Whether the counter goes on at one rate, whatever the processor does.
bool counts_at_one_rate() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1U << 8) != 0;
#else
  return false;
#endif
}

}  // namespace

std::uint64_t Clock::set(std::uint64_t ticks) {
  static const bool is_steady = counts_at_one_rate();
  const std::uint64_t now = std::max(monotonic_ns(), last_);
  last_ = now;
  if (!is_steady) return now;  // as set_again_ stays 0
  if (first_ns_ == 0) first_ns_ = now, first_ticks_ = ticks;
  const std::uint64_t passed = now - first_ns_;
  if (passed < known_after_ns || ticks <= first_ticks_) return now;
  ns_per_tick_ = static_cast<double>(passed) / static_cast<double>(ticks - first_ticks_);
  set_at_ = ticks;
  set_to_ = now;
  set_again_ = static_cast<std::uint64_t>(set_each_ns / ns_per_tick_);
  return now;
}

}  // namespace refrain::gomp
