#pragma once
// One thread's stream of events: recorded, followed beside the same thread's of the reference run, or both. Its events
// have numbers: those of the reference, then its own in the order in which they were named. One thread at a time.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/delays.hpp"
#include "oracle/names.hpp"
#include "oracle/recorder.hpp"
#include "oracle/reference.hpp"
#include "oracle/thread_record.hpp"
#include "oracle/tracker.hpp"

namespace refrain::oracle {

class alignas(64) Stream {
 public:
  /// `reference`, `recorder`: none, if it is not followed, or not recorded.
  Stream(std::optional<ThreadRecord> reference, std::unique_ptr<Recorder> recorder);

  /// The number of the event with that name, which is new if there is none. OracleError: it has more than kLongestName
  /// bytes.
  std::uint32_t event(std::string_view name);
  /// None: there is no such event.
  [[nodiscard]] const std::string* name(std::uint32_t event) const {
    return event < names_.size() ? &names_[event] : nullptr;
  }

  /// An event happens, `now` in ns from any beginning, or, without, now. Nothing, if there is no such event.
  Tracked submit(std::uint32_t event, std::optional<std::uint64_t> now = std::nullopt);
  /// The same of most events of a loop that is recorded and not followed, which takes a few ns. False: it is none of
  /// those, and nothing was done.
  bool record_expected(std::uint32_t event, std::uint64_t now) {
    return !followed_ && recorder_ && recorder_->add_expected(event, now);
  }

  [[nodiscard]] bool predicts() const { return followed_ != nullptr; }
  /// Requires predicts().
  [[nodiscard]] Prediction predict(std::uint64_t distance) {
    return followed_->tracker.predict(distance);
  }
  [[nodiscard]] Occurrence next(std::uint32_t event) { return followed_->tracker.next(event); }

  /// Nothing, if it is not recorded. OracleError: more than kLargestNotes bytes in all.
  void set_note(std::string_view name, std::string_view bytes) {
    if (recorder_) recorder_->set_note(name, bytes);
  }
  /// The reference's. None: there is none of that name.
  [[nodiscard]] const Note* note(std::string_view name) const;

  /// Appends what is recorded to the run's file. OracleError: it cannot be, or recording had to end before.
  void append();

 private:
  struct alignas(64) Followed {
    explicit Followed(ThreadRecord record);

    std::vector<Note> notes;
    Reference reference;
    std::optional<Delays> delays;
    Tracker tracker;
  };

  void record(std::uint32_t event, std::optional<std::uint64_t> now);

  Names names_;
  std::unique_ptr<Followed> followed_;
  std::unique_ptr<Recorder> recorder_;
  bool ended_early_ = false;  // there was no memory to record further
};

}  // namespace refrain::oracle
