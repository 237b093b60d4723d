#include "gomp/learner.hpp"

#include <algorithm>

namespace refrain::gomp {

void Measuring::began(std::uint64_t now_ns) {
  if (regions_ == 0) began_ns_ = now_ns;
  const std::uint64_t passed = now_ns - began_ns_;
  if (regions_ < stretch_regions && (passed < stretch_ns || regions_ == 0)) {
    ++regions_;
    return;
  }
  factor_ = new_ ? 0 : std::min(2 * factor_ + 1, most_left_out);
  const std::uint64_t each_ns = std::max<std::uint64_t>(passed / regions_, 1);
  left_out_ = std::min(factor_ * regions_, left_out_ns / each_ns);
  regions_ = 0;
  new_ = false;
}

Learner::Call Learner::measured(Occasion& occasion, const Choices& choices, std::uint64_t now_ns) {
  if (!trial_.runs()) measuring_.began(now_ns);
  if (first_ns_ == 0) first_ns_ = last_ns_ = now_ns;
  trials_.allowance.earn(static_cast<double>(now_ns - last_ns_));
  last_ns_ = now_ns;
  if (const unsigned tried = trial_.next())
    return {occasion.choose(choices, first_, trials_, tried), &occasion, now_ns};
  const unsigned threads = occasion.choose(choices, first_, trials_);
  if (threads != occasion.best()) trial_.begin(threads);
  return {threads, &occasion, now_ns};
}

void Learner::ended(Region& region, const Call& call, std::uint64_t now_ns) {
  const double took_ns = static_cast<double>(now_ns - call.began_ns);
  Occasion& occasion = *call.occasion;
  const unsigned before = occasion.best();
  const bool first = trial_.is_first();  // what is made then is made once
  const bool counts = trial_.counts(call.threads, took_ns, call.threads != before);
  if (!first) occasion.ran(call.threads, took_ns, trials_, counts);
  if (occasion.is_new() || occasion.best() != before) measuring_.is_new();
  const auto [best, whole] = occasion.best_and_whole(trials_.costs);
  if (best > 0) contest_.expect(best, whole);
  region.common_of = occasion.choices();
  region.common = region.occasions.common(region.common_of);
}

}  // namespace refrain::gomp
