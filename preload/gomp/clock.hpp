#pragma once
// The oracle's clock, CLOCK_MONOTONIC, read from the processor's counter of time stamps, which takes half as long: about
// 20 ns on a virtual machine. The counter's rate is found while the clock is used, and each millisecond or so it is set
// by CLOCK_MONOTONIC again; so events of other libraries in the same stream are in order, within a microsecond. On
// processors whose counter does not go on at one rate CLOCK_MONOTONIC is read each time.
//
// One thread; it never goes back.

#include <cstdint>

namespace refrain::gomp {

class Clock {
 public:
  /// In ns.
  std::uint64_t now() {
    const std::uint64_t ticks = counter();
    const std::uint64_t passed = ticks - set_at_;
    if (passed >= set_again_) [[unlikely]]
      return set(ticks);
    const auto now =
        set_to_ + static_cast<std::uint64_t>(static_cast<double>(passed) * ns_per_tick_);
    return last_ = now > last_ ? now : last_;
  }

 private:
  static std::uint64_t counter();
  std::uint64_t set(std::uint64_t ticks);

  std::uint64_t set_at_ = 0;     ///< ticks
  std::uint64_t set_to_ = 0;     ///< ns
  std::uint64_t set_again_ = 0;  ///< after so many ticks
  double ns_per_tick_ = 0;       ///< 0: not known
  std::uint64_t first_ticks_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ = 0;
};

#if defined(__x86_64__)
inline std::uint64_t Clock::counter() { return __builtin_ia32_rdtsc(); }
#else
inline std::uint64_t Clock::counter() { return 0; }
#endif

}  // namespace refrain::gomp
