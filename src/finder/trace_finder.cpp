#include "finder/trace_finder.hpp"

#include <algorithm>
#include <numeric>

namespace refrain::autotrace {

TraceFinder::TraceFinder(const FinderOptions& options, Miners miners)
    : options_(options),
      miners_(std::move(miners)),
      history_(options.history),
      sampling_(options.sample, options.history),
      candidates_(kMostCandidates, kMostHistories * options.history),
      next_(sampling_.next_at()) {
  options_.sample = std::min(options_.sample, options_.history);
}

void TraceFinder::add_replayed(std::span<const Token> tokens, std::span<const Work> work) {
  if (tokens.empty()) return;
  counters_.replayed += tokens.size();
  history_.add_replayed(tokens, work);
  work_ = std::accumulate(work.begin(), work.end(), work_);
  changes_at_ = work_ + kUnsettling;
}

void TraceFinder::recorded(std::uint64_t identity, bool whole) {
  if (whole) ++counters_.recordings;
  TraceCandidate* const candidate = candidates_.find(identity);
  if (candidate == nullptr) return;
  ++candidate->recordings;
  candidate->recording.enter(-1);
}

void TraceFinder::replayed(std::uint64_t identity) {
  ++counters_.replays;
  TraceCandidate* const candidate = candidates_.find(identity);
  if (candidate == nullptr) return;
  candidate->appeared(1, now());
  candidate->recording.enter(1);
  if (candidate->replays++ > 0) return;
  // What is found is of use: more may be.
  sampling_.restart(work_);
  next_ = std::min(next_, sampling_.next_at());
}

Candidates::Position TraceFinder::position(std::size_t calls) const {
  if (calls > history_.tokens().size()) return {};
  const std::span<const Token> tokens = history_.tokens().last(calls);
  Candidates::Position at = candidates_.begin(tokens.front());
  for (const Token token : tokens.subspan(1)) at = Candidates::next(at, token);
  return at;
}

void TraceFinder::turn() {
  if (has_changed()) sampling_.restart(std::exchange(changes_at_, ~std::uint64_t{0}) - kUnsettling);
  if (job_ != nullptr && work_ >= due_) take_in();
  if (work_ >= sampling_.next_at() && may_mine()) send_for();
  next_ = job_ != nullptr ? due_ : sampling_.next_at();
  if (may_mine()) next_ = std::min(next_, sampling_.next_at());
}

void TraceFinder::send_for() {
  const std::size_t length = sampling_.next(work_, largest_now(), history_.size());
  if (length == 0) return;
  Sample sample = history_.last(length);
  const std::uint64_t mined = sample.tokens.size();
  counters_.mined_calls += mined;
  ++counters_.mined;
  if (mined <= options_.at_once) return add(mine(sample, options_.limits));
  job_ = std::make_shared<MiningJob>(std::move(sample), options_.limits);
  if (!miners_.post(job_)) job_->run();
  late_ = false;
  due_ = work_ + std::max<std::uint64_t>(1, mined / 4) * distance_;
}

void TraceFinder::take_in() {
  if (job_->tokens() <= options_.alone) job_->run();
  if (!job_->is_done()) {
    if (!std::exchange(late_, true)) {
      ++counters_.late;
      distance_ = std::min(2 * distance_, kMostDistance);
      miners_.hurry();
    }
    due_ = work_ + std::max<std::uint64_t>(1, options_.sample / 4);
    return;
  }
  if (!late_ && distance_ > 1) --distance_;
  add(job_->take());
  job_ = nullptr;
}

}  // namespace refrain::autotrace
