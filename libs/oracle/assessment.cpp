#include "oracle/assessment.hpp"

#include <algorithm>
#include <utility>

namespace refrain::oracle {

void Assessment::predict(Stream& stream) {
  if (!stream.predicts()) return;
  for (std::size_t d = 0; d < kDistances; ++d) {
    const std::uint64_t distance = std::uint64_t{1} << d;
    Predicted& predicted = predicted_[(counts_.events + distance - 1) % kAhead][d];
    if (predicted.event == kNothing) ++pending_;
    predicted = {stream.predict(distance).event.value_or(kNoAnswer), weight_};
  }
}

/// The event with the number counts_.events, from 0.
void Assessment::came(std::uint32_t event) {
  auto& predicted = predicted_[counts_.events % kAhead];
  for (std::size_t d = 0; d < kDistances; ++d) {
    const auto [predicted_event, weight] = std::exchange(predicted[d], {});
    if (predicted_event == kNothing) continue;
    --pending_;
    const bool right = predicted_event == event;
    (weight > 0 ? counts_.predicted : first_predicted_)[d] += std::max(weight, 1u);
    if (right) (weight > 0 ? counts_.right : first_right_)[d] += std::max(weight, 1u);
  }
}

Assessment::Counts Assessment::counts() const {
  Counts counts = counts_;
  for (std::size_t d = 0; d < kDistances; ++d) {
    if (counts.predicted[d] >= kFirst) continue;
    counts.predicted[d] += first_predicted_[d];
    counts.right[d] += first_right_[d];
  }
  return counts;
}

}  // namespace refrain::oracle
