#include "oracle/stream.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "oracle/error.hpp"
#include "oracle/run_format.hpp"

namespace refrain::oracle {

namespace {

std::optional<Delays> delays_of(const Reference& reference,
                                const std::vector<Delays::Recorded>& recorded) {
  if (recorded.empty()) return std::nullopt;
  return std::optional<Delays>(std::in_place, reference, recorded);
}

std::uint64_t clock_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace

Stream::Followed::Followed(ThreadRecord record)
    : notes(std::move(record.notes)),
      reference(std::move(record.grammar)),
      delays(delays_of(reference, record.delays)),
      tracker(reference, delays ? &*delays : nullptr) {
  tracker.start();
}

Stream::Stream(std::optional<ThreadRecord> reference, std::unique_ptr<Recorder> recorder)
    : recorder_(std::move(recorder)) {
  if (!reference) return;
  for (const std::string& name : reference->names) names_.number(name);
  followed_ = std::make_unique<Followed>(std::move(*reference));
}

std::uint32_t Stream::event(std::string_view name) {
  if (name.size() > kLongestName)
    throw OracleError("the name of an event has " + std::to_string(name.size()) +
                      " bytes, more than " + std::to_string(kLongestName));
  return names_.number(name);
}

Tracked Stream::submit(std::uint32_t event, std::optional<std::uint64_t> now) {
  if (event >= names_.size()) return Tracked::unknown;
  if (recorder_) record(event, now);
  return followed_ ? followed_->tracker.track(event) : Tracked::unknown;
}

/// Without memory the recorder is left with half a change, so what it has appended before is all there will be.
void Stream::record(std::uint32_t event, std::optional<std::uint64_t> now) {
  if (!now) now = recorder_->times() ? clock_now() : 0;
  try {
    recorder_->add(event, *now, [&]() -> const std::string& { return names_[event]; });
  } catch (const std::bad_alloc&) {
    recorder_.reset();
    ended_early_ = true;
  }
}

void Stream::append() {
  if (ended_early_) throw OracleError("there was no memory to record all");
  if (!recorder_) return;
  try {
    recorder_->append();
  } catch (const std::bad_alloc&) {
    recorder_.reset();
    ended_early_ = true;
    throw;
  }
}

const Note* Stream::note(std::string_view name) const {
  if (!followed_) return nullptr;
  const auto found = std::ranges::find(followed_->notes, name, &Note::name);
  return found == followed_->notes.end() ? nullptr : &*found;
}

}  // namespace refrain::oracle
