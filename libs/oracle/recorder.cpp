#include "oracle/recorder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "oracle/error.hpp"
#include "oracle/run_format.hpp"

namespace refrain::oracle {

void Recorder::set_note(std::string_view name, std::string_view bytes) {
  const auto same = std::ranges::find(notes_, name, &Note::name);
  const auto size = [](std::size_t sum, const Note& note) {
    return sum + note.name.size() + note.bytes.size();
  };
  const std::size_t others = std::accumulate(notes_.begin(), notes_.end(), std::size_t{0}, size) -
                             (same == notes_.end() ? 0 : size(0, *same));
  if (others + name.size() + bytes.size() > kLargestNotes)
    throw OracleError("there are more than " + std::to_string(kLargestNotes) +
                      " bytes of notes, with \"" + std::string(name) + "\"");
  if (same == notes_.end()) notes_.push_back({std::string(name), std::string(bytes)});
  else same->bytes = bytes;
}

void Recorder::add_name(std::uint32_t event, const std::string& name) {
  if (event >= numbers_.size()) numbers_.resize(std::size_t{event} + 1, kNew);
  names_.emplace_back(name);
  numbers_[event] = static_cast<std::uint32_t>(names_.size() - 1);
}

void Recorder::append(RunWriter::Kind kind) {
  TimedGrammar timed;
  if (auto* const with_times = std::get_if<TimedReduction>(&reduction_))
    timed = with_times->grammar();
  else timed.grammar = std::get<Reduction>(reduction_).grammar();
  writer_.append({.process = process_,
                  .thread = thread_,
                  .names = names_,
                  .grammar = std::move(timed.grammar),
                  .delays = std::move(timed.delays),
                  .notes = notes_},
                 kind);
}

/// If it cannot be appended now, it may be later, or in the end.
void Recorder::take_snapshot() {
  const bool is_soon = times() && last_ - snapshot_at_ < kApart && events_ < kMany * snapshot_of_;
  if (is_soon) return snapshots_.put_off(events_);
  snapshot_at_ = last_;
  snapshot_of_ = events_;
  try {
    append(RunWriter::Kind::snapshot);
  } catch (const OracleError&) {}
  const auto symbols = [](auto& reduction) { return reduction.symbols(); };
  snapshots_.taken(events_, std::visit(symbols, reduction_));
}

}  // namespace refrain::oracle
