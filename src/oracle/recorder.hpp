#pragma once
// Records the stream of one thread in the file of a run: reduces its events as they come, and appends what is known so
// far now and then (Snapshots), so that of a run that is killed most is there. One thread; the writer is shared.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/reduction.hpp"
#include "oracle/run_writer.hpp"
#include "oracle/thread_record.hpp"

namespace refrain::oracle {

class Recorder {
 public:
  /// The writer has to outlive it.
  Recorder(RunWriter& writer, std::uint32_t process, std::uint32_t thread)
      : writer_(writer), process_(process), thread_(thread) {}

  /// What happened next. `event`: the caller's number of it, small; `name`: called if it is the first of its kind.
  template <class Name>
  void add(std::uint32_t event, const Name& name) {
    if (event >= numbers_.size()) numbers_.resize(std::size_t{event} + 1, kNew);
    std::uint32_t& number = numbers_[event];
    if (number == kNew) {
      names_.emplace_back(name());
      number = static_cast<std::uint32_t>(names_.size() - 1);
    }
    reduction_.add(number);
    if (snapshots_.due(reduction_.events())) take_snapshot();
  }
  /// In the place of the note with that name. OracleError: more than kLargestNotes bytes in all.
  void set_note(std::string_view name, std::string_view bytes);

  /// Appends all there is. FileError, InvalidRecord: it cannot be.
  void append();

  [[nodiscard]] std::uint64_t events() const { return reduction_.events(); }

 private:
  static constexpr std::uint32_t kNew = UINT32_MAX;

  void take_snapshot();

  RunWriter& writer_;
  const std::uint32_t process_, thread_;
  Reduction reduction_;
  Snapshots snapshots_;
  std::vector<std::uint32_t> numbers_;  ///< by the caller's: in the order in which they first came
  std::vector<std::string> names_;
  std::vector<Note> notes_;
};

}  // namespace refrain::oracle
