#pragma once
// How good the predictions for a stream are, and what they cost: the paper's measure (section III-C2). At some of its
// events the ones at the distances 1, 2, 4 ... 128 are predicted; as they come it is counted how many were right. Of
// many such events a sample, drawn at random, is enough: to predict takes ten times as long as to follow.
// One thread.

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>

#include "oracle/stream.hpp"

namespace refrain::oracle {

class alignas(64) Assessment {
 public:
  static constexpr std::size_t kDistances = 8;  ///< 1, 2, 4 ... 128

  struct Counts {
    std::uint64_t events = 0, expected = 0, unexpected = 0, unknown = 0;
    std::array<std::uint64_t, kDistances> predicted{}, right{};
    double seconds = 0;  ///< in the oracle, those of predict() apart
  };

  /// The last event was such a one. Whether it is in the sample: then predict() is to be called.
  bool is_drawn() {
    if (++offered_ <= kFirst) return weight_ = 0, true;
    weight_ = offered_ <= kSoon ? 1 : kLater / kOften;
    random_ = random_ * 6364136223846793005 + 1442695040888963407;
    return random_ >> 32 < (std::uint64_t{1} << 32) / (kOften * weight_);
  }
  void predict(Stream& stream);
  /// Calls submit() for an event, and counts. The time is taken of one in kTimed events, which stands for all.
  template <class Submit>
  Tracked submit(std::uint32_t event, const Submit& submit);

  /// Where there are enough others the first of the sample do not count, of which a long run would have too many.
  [[nodiscard]] Counts counts() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kTimed = 16;
  // The first so many are in the sample; then one of kOften, and beyond the first kSoon one of kLater, which counts for
  // as many more.
  static constexpr std::uint64_t kFirst = 32, kSoon = 4096, kOften = 128, kLater = 512;
  // No events: it was not asked for, and it was, but nothing was known, which is not right.
  static constexpr std::uint32_t kNothing = UINT32_MAX, kNoAnswer = UINT32_MAX - 1;
  static constexpr std::size_t kAhead = std::size_t{1} << (kDistances - 1);

  void came(std::uint32_t event);

  Counts counts_;
  std::array<std::uint64_t, kDistances> first_predicted_{}, first_right_{};  ///< of the first
  std::uint64_t offered_ = 0;
  std::uint32_t weight_ = 0;  ///< of the last one that was drawn; 0: it is one of the first
  std::uint64_t random_ = 1;
  std::uint32_t pending_ = 0;  ///< predictions of events that have not come
  struct Predicted {
    std::uint32_t event = kNothing;
    std::uint32_t weight = 0;
  };
  /// What was predicted for event n, by distance, is at n % kAhead: no event is predicted from further away.
  std::array<std::array<Predicted, kDistances>, kAhead> predicted_{};
};

template <class Submit>
Tracked Assessment::submit(std::uint32_t event, const Submit& submit) {
  if (pending_ > 0) came(event);
  Tracked tracked;
  if (counts_.events++ % kTimed == 0) {
    const auto begin = Clock::now();
    tracked = submit();
    counts_.seconds += kTimed * std::chrono::duration<double>(Clock::now() - begin).count();
  } else {
    tracked = submit();
  }
  ++(tracked == Tracked::expected     ? counts_.expected
     : tracked == Tracked::unexpected ? counts_.unexpected
                                      : counts_.unknown);
  return tracked;
}

}  // namespace refrain::oracle
