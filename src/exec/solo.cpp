#include "exec/solo.hpp"

namespace refrain::exec {

namespace {
constexpr double kTiny = 5e-4;   ///< tasks per nanosecond from which a trial may pay
constexpr double kAsFast = 0.9;  ///< alone: the others had better do nothing, then
/// Until the next trial, after one that failed and after one that did well for long: a trial costs a
/// nap of the workers.
constexpr std::uint64_t kFailedNs = 10'000'000, kLongNs = 1'000'000, kAgainNs = 200'000;
}  // namespace

double Solo::end_period(std::uint64_t now_ns, std::uint64_t executed) {
  const double rate = static_cast<double>(executed - executed_then_) /
                      static_cast<double>(now_ns - period_began_ns_);
  period_began_ns_ = now_ns;
  executed_then_ = executed;
  return rate;
}

bool Solo::begin(std::uint64_t now_ns, std::uint64_t executed) {
  const double rate = end_period(now_ns, executed);
  if (rate < kTiny || now_ns < not_before_ns_) return false;
  together_ = rate;
  began_ns_ = now_ns;
  on_.store(true, std::memory_order_relaxed);
  return true;
}

bool Solo::go_on(std::uint64_t now_ns, std::uint64_t executed) {
  if (end_period(now_ns, executed) > kAsFast * together_) return true;
  not_before_ns_ = now_ns + (now_ns - began_ns_ < kLongNs ? kFailedNs : kAgainNs);
  on_.store(false, std::memory_order_relaxed);
  return false;
}

}  // namespace refrain::exec
