// Tracing: segments that follow each other round after round are joined, and go on into each other.

#include <algorithm>
#include <utility>

#include "runtime/context_impl.hpp"
#include "trace/join.hpp"
#include "tracing/tracing.hpp"

namespace refrain::runtime {

using trace::Index;

// The chain goes on without a look at the state: with the next part of a round, or with all of it once more.
// `here`: where segments begin now.
bool Tracing::goes_on(const Fork* here, const TracedCall& call) {
  if (step_ != part_end_) return false;
  const std::size_t next = (part_ + 1) % chain_->parts.size();
  if (next == 0 && !chain_->trace->recording().idempotent) return false;
  const Index begin = next == 0 ? 0 : step_;
  if (chain_->parts[next].segment->home != here || !next_is(*chain_, begin, begin, call))
    return false;
  if (following_) {  // in the middle of a trace
    show_end(profile::Category::replaying, step_ - part_begin_);
    note_replayed_calls();
  }
  recent_.add({part().segment, part().steps, noted_});
  if (next == 0) start(*chain_, true);
  else enter_part(next);
  return true;
}

// What is replayed next follows directly on the chain, which is left.
void Tracing::leave_for_next() {
  Repetition<Part> recent = std::move(recent_);
  recent.add({part().segment, step_ - part_begin_, noted_});
  settle();
  recent_ = std::move(recent);
}

// A round that begins with the segment, which is about to be replayed, and may be replayed instead.
Round* Tracing::round_from(const Segment& first) {
  const std::span<const Part> repeated = recent_.twice();
  Round* round = nullptr;
  if (!repeated.empty() && repeated.front().segment == &first) round = round_of(repeated);
  for (std::size_t i = rounds_.size(); round == nullptr && i-- > 0;)
    if (rounds_[i]->parts.front().segment == &first) round = rounds_[i].get();
  if (round == nullptr || round->trace == nullptr) return nullptr;
  if (round->entering.pause()) return nullptr;
  const trace::Recording& recording = round->trace->recording();
  return !recording.stale() && recording.holds() ? round : nullptr;
}

// The round of these parts, made when they are seen to repeat for the first time.
Round* Tracing::round_of(std::span<const Part> parts) {
  const bool one = parts.size() == 1 && parts[0].steps == parts[0].segment->trace->steps();
  // What passes by would pass in the middle.
  if (one || std::ranges::any_of(parts.first(parts.size() - 1), &Part::passed)) return nullptr;
  const auto found = std::ranges::find_if(
      rounds_, [&](const auto& round) { return std::ranges::equal(round->parts, parts); });
  if (found != rounds_.end()) {
    std::rotate(found, found + 1, rounds_.end());
  } else {
    if (rounds_.size() >= kMostRounds && !drop_oldest_round()) return nullptr;
    rounds_.push_back(join(parts));
    if (const ReplayedTrace* joined = rounds_.back()->trace.get()) {
      ++counters_.rounds;
      counters_.unexamined_edges += joined->unexamined_edges();
    }
  }
  return rounds_.back().get();
}

// Without a recording where there is nothing to do, or too much, or where it could not be repeated; nor of parts whose
// replays have instances of their own, which would need names that tell the parts apart.
std::unique_ptr<Round> Tracing::join(std::span<const Part> parts) {
  auto round = std::make_unique<Round>();
  round->parts.assign(parts.begin(), parts.end());
  std::vector<trace::Prefix> prefixes;
  ReplayedTrace::Calls calls;
  std::size_t operations = 0, more = 0;
  for (const Part& part : parts) {
    const ReplayedTrace& trace = *part.segment->trace;
    if (trace.recording().has_own()) return round;
    prefixes.push_back({&trace.recording(), part.steps});
    calls.insert(calls.end(), trace.calls().begin(), trace.calls().begin() + part.steps);
    operations += trace.recording().steps[part.steps - 1].operations;
    more += trace.bytes();
  }
  const Options& options = context_.runtime_.options();
  if (operations == 0 || bytes() + more > options.trace_memory) return round;
  std::unique_ptr<trace::Recording> recording = trace::join(prefixes);
  if (recording->idempotent)
    round->trace = std::make_unique<ReplayedTrace>(context_, std::move(recording), std::move(calls),
                                                   options.trace_optimize, replayed_);
  return round;
}

/// Unless that is the chain.
bool Tracing::drop_oldest_round() {
  const auto oldest =
      std::ranges::find_if(rounds_, [this](const auto& round) { return round.get() != chain_; });
  if (oldest == rounds_.end()) return false;
  retire(std::move((*oldest)->trace));
  rounds_.erase(oldest);
  return true;
}

/// The chain is left. To enter a round was of use if one replay of it came to its end.
void Tracing::note_round() {
  if (round_ == nullptr) return;
  round_->entering.judge(carried_ || step_ == chain_->trace->steps());
}

}  // namespace refrain::runtime
