#include "oracle/assessment.hpp"

namespace refrain::oracle {

void Assessment::predict(Stream& stream) {
  if (!stream.predicts()) return;
  for (std::size_t d = 0; d < kDistances; ++d) {
    const std::uint64_t distance = std::uint64_t{1} << d;
    auto& predicted = predicted_[(counts_.events + distance - 1) % kAhead][d];
    if (predicted == kNothing) ++pending_;
    predicted = stream.predict(distance).event.value_or(kNoAnswer);
  }
}

/// The event with the number counts_.events, from 0.
void Assessment::came(std::uint32_t event) {
  auto& predicted = predicted_[counts_.events % kAhead];
  for (std::size_t d = 0; d < kDistances; ++d) {
    if (predicted[d] == kNothing) continue;
    --pending_;
    ++counts_.predicted[d];
    if (predicted[d] == event) ++counts_.right[d];
    predicted[d] = kNothing;
  }
}

}  // namespace refrain::oracle
