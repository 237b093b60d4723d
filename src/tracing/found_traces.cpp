#include "tracing/found_traces.hpp"

#include <algorithm>
#include <span>

namespace refrain::runtime {

autotrace::FinderOptions finder_options(const Options& options) {
  autotrace::FinderOptions chosen;
  chosen.limits.least = options.autotrace_min_length;
  if (options.autotrace_max_length > 0) chosen.limits.most = options.autotrace_max_length;
  chosen.limits.least = std::min(chosen.limits.least, chosen.limits.most);
  chosen.history = options.autotrace_history;
  chosen.sample = options.autotrace_sample;
  return chosen;
}

FoundTraces::FoundTraces(ContextCore& context)
    : finder_(finder_options(context.runtime.options()), context.runtime.miners()) {
  if (context.parent == nullptr) finder_.propose(context.runtime.warm_start());
  if (Listener* told = context.runtime.listener(Events::autotrace))
    log_ = std::make_unique<AutotraceLog>(*told, context.id);
}

std::unique_ptr<FoundTraces> FoundTraces::make(ContextCore& context) {
  const Options& options = context.runtime.options();
  if (!options.tracing || !options.autotrace) return nullptr;
  return std::unique_ptr<FoundTraces>(new FoundTraces(context));
}

void FoundTraces::analysed(autotrace::Token token, autotrace::Work work) {
  if (log_ != nullptr) log_->analysed(finder_.now());
  finder_.add(token, work);
  if (watched_ == nullptr) return;
  const bool same = watched_->tokens[watched_calls_] == token;
  if (same && ++watched_calls_ < watched_->tokens.size()) return;
  watched_->anywhere.watched(same);
  if (watched_in_context_) watched_->in_context.watched(same);
  watched_ = nullptr;
}

void FoundTraces::take_turn() {
  if (!finder_.is_due()) return;
  const AutotraceCounters before = finder_.counters();
  finder_.turn();
  if (log_ == nullptr) return;
  const AutotraceCounters now = finder_.counters();
  if (now.mined != before.mined || now.candidates != before.candidates)
    log_->mined(finder_.now(), now.mined_calls - before.mined_calls,
                now.candidates - before.candidates);
}

void FoundTraces::untraceable() {
  finder_.add_unique();
  watched_ = nullptr;
}

void FoundTraces::replayed(const Branch& branch, std::size_t calls) {
  watched_ = nullptr;
  const bool whole = calls == branch.tokens.size();
  if (log_ != nullptr) log_->replayed(finder_.now(), calls, whole);
  finder_.add_replayed(std::span(branch.tokens).first(calls), std::span(branch.work).first(calls));
  if (whole && branch.candidate != 0) finder_.replayed(branch.candidate);
}

std::uint64_t FoundTraces::made_branch(std::size_t calls) {
  if (log_ != nullptr) log_->recorded(finder_.now(), calls);
  return ++numbers_;
}

void FoundTraces::abandoned(std::size_t calls) {
  if (log_ != nullptr) log_->abandoned(finder_.now(), calls);
}

bool FoundTraces::left_again(const Branch& branch, std::size_t calls, autotrace::Token token) {
  if (exits_.size() >= kMostExits) exits_.clear();
  const std::uint64_t place[] = {branch.number, calls, token};
  return exits_[hash_bytes(place, sizeof place)]++ > 0;
}

}  // namespace refrain::runtime
