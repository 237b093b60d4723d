#pragma once
// After an unexpected event a run is taken to be where it was, but for that event; or it is looked for anew. The former
// is right where a program does what it did, and something else happens at times; the latter where what it did was
// chance. Which of the two it is shows in how many events come as expected until the next one that does not. Looking
// anew has to last twice as long, since more continues what is known of fewer events. What is not done is tried now and
// then, beside what is done, and ever more rarely; but not before there was time to find out that loops go round more
// often than in the reference (own_counts.hpp). One thread.

#include <algorithm>
#include <array>
#include <cstdint>

namespace refrain::oracle {

enum class Recovery : std::uint8_t { repaired, anew };

class Recoveries {
 public:
  /// What is done about an unexpected event.
  [[nodiscard]] Recovery way() const {
    return of(Recovery::anew) > 2 * of(Recovery::repaired) ? Recovery::anew : Recovery::repaired;
  }
  [[nodiscard]] Recovery other() const {
    return way() == Recovery::anew ? Recovery::repaired : Recovery::anew;
  }
  /// At an unexpected event, so many events after following began: is the other way to be tried? `uses`: of the
  /// reference.
  bool is_to_be_tried(std::uint64_t events, std::uint64_t uses) {
    if (events < std::min(kSettling * uses, kSettled) || --until_trial_ > 0) return false;
    between_trials_ = std::min(2 * between_trials_, kRarest);
    until_trial_ = between_trials_;
    return true;
  }
  /// So many events came as expected after that.
  void lasted(Recovery way, std::uint64_t events) {
    Lasting& all = lasting_[static_cast<std::size_t>(way)];
    all.number = std::min(all.number + 1, kRemembered);
    const bool before = this->way() == Recovery::anew;
    all.mean += (static_cast<double>(events) - all.mean) / all.number;
    if (before != (this->way() == Recovery::anew)) between_trials_ = until_trial_ = kTrials;
  }
  /// A trial that has lasted as long is over.
  static constexpr std::uint64_t kLongestTrial = 256;

 private:
  static constexpr std::uint32_t kTrials = 32, kRarest = 1 << 12;
  static constexpr double kRemembered = 8;
  static constexpr std::uint64_t kSettling = 32, kSettled = 4096;  // events

  struct Lasting {
    double mean = 0;
    double number = 0;  ///< that count in it
  };
  [[nodiscard]] double of(Recovery way) const {
    return lasting_[static_cast<std::size_t>(way)].mean;
  }

  std::array<Lasting, 2> lasting_;
  std::uint32_t between_trials_ = kTrials, until_trial_ = kTrials;
};

}  // namespace refrain::oracle
