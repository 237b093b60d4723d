#pragma once
// Records the stream of one thread in the file of a run: reduces its events as they come, and appends what is known so
// far now and then (Snapshots), so that of a run that is killed most is there; with times at most each kApart, so that
// of a short run it is not most of what recording takes. One thread; the writer is shared.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oracle/reduction.hpp"
#include "oracle/run_writer.hpp"
#include "oracle/thread_record.hpp"
#include "oracle/timed_reduction.hpp"

namespace refrain::oracle {

class alignas(64) Recorder {
 public:
  /// `times`: those between the events are recorded, too. The writer has to outlive it.
  Recorder(RunWriter& writer, std::uint32_t process, std::uint32_t thread, bool times)
      : writer_(writer), process_(process), thread_(thread) {
    if (times) reduction_.emplace<TimedReduction>();
  }

  /// Whether times are recorded.
  [[nodiscard]] bool times() const { return std::holds_alternative<TimedReduction>(reduction_); }

  /// What happened next. `event`: the caller's number of it, small; `name`: called if it is the first of its kind;
  /// `now`: when, in ns from any beginning, nothing without times.
  template <class Name>
  void add(std::uint32_t event, std::uint64_t now, const Name& name);

  /// The same of most events of a loop, for which little has to be done. False: nothing was done.
  bool add_expected(std::uint32_t event, std::uint64_t now);

  /// In the place of the note with that name. OracleError: more than kLargestNotes bytes in all.
  void set_note(std::string_view name, std::string_view bytes);

  /// Appends all there is. FileError, InvalidRecord: it cannot be.
  void append() { append(RunWriter::Kind::last); }

 private:
  static constexpr std::uint32_t kNew = UINT32_MAX;
  // In ns; or when there are so many times as many events, for a caller's clock may have another unit.
  static constexpr std::uint64_t kApart = 50'000'000, kMany = 8;

  /// Since the last event, 0 where a caller's clock goes back, and at most 2^63. (To convert a signed number takes one
  /// instruction.)
  [[nodiscard]] double elapsed(std::uint64_t now) const {
    const std::uint64_t passed = now - std::min(last_, now);
    return static_cast<double>(
        static_cast<std::int64_t>(std::min<std::uint64_t>(passed, INT64_MAX)));
  }

  void add_name(std::uint32_t event, const std::string& name);
  void append(RunWriter::Kind kind);
  void take_snapshot();

  RunWriter& writer_;
  const std::uint32_t process_, thread_;
  std::variant<Reduction, TimedReduction> reduction_;
  std::uint64_t events_ = 0;
  std::uint64_t last_ = 0;                           // when the last event was
  std::uint64_t snapshot_at_ = 0, snapshot_of_ = 0;  // the last: when, and of how many events
  Snapshots snapshots_;
  std::vector<std::uint32_t> numbers_;  // by the caller's: in the order in which they first came
  std::vector<std::string> names_;
  std::vector<Note> notes_;
};

inline bool Recorder::add_expected(std::uint32_t event, std::uint64_t now) {
  TimedReduction* const timed = std::get_if<TimedReduction>(&reduction_);
  if (timed == nullptr || snapshots_.due(events_ + 1)) return false;
  if (event >= numbers_.size() || numbers_[event] == kNew) return false;
  if (!timed->add_expected(numbers_[event], elapsed(now))) return false;
  last_ = now;
  ++events_;
  return true;
}

template <class Name>
void Recorder::add(std::uint32_t event, std::uint64_t now, const Name& name) {
  if (event >= numbers_.size() || numbers_[event] == kNew) [[unlikely]]
    add_name(event, name());
  const std::uint32_t number = numbers_[event];
  if (TimedReduction* const timed = std::get_if<TimedReduction>(&reduction_)) {
    timed->add(number, elapsed(now));
    last_ = now;
  } else {
    std::get<Reduction>(reduction_).add(number);
  }
  if (snapshots_.due(++events_)) [[unlikely]]
    take_snapshot();
}

}  // namespace refrain::oracle
