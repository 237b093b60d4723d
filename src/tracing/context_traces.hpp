#pragma once
// The traces of a context as its calls see them: made when the first is needed. Where nothing is traced it says no to
// every call.
//
// Owner: the context's thread.

#include <algorithm>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>

#include "launch/call_identity.hpp"
#include "tracing/tracing.hpp"

namespace refrain::runtime {

class ContextTraces final : public DeferredState {
 public:
  explicit ContextTraces(ContextCore& context) : context_(context) { context.deferred = this; }
  ContextTraces(const ContextTraces&) = delete;

  [[nodiscard]] bool is_on() const { return tracing_ != nullptr; }
  /// For a mark of the program.
  Tracing& made() {
    if (tracing_ == nullptr) {
      tracing_ = std::make_unique<Tracing>(context_);
      cursor_ = &tracing_->cursor();
    }
    return *tracing_;
  }
  /// For a launch that is about to be analysed; null: it is not traced. Traces are looked for from the first launch on,
  /// in a task after a few: most tasks launch few others, and to look for traces costs as much as some launches.
  Tracing* for_launch() {
    if (tracing_ != nullptr) [[likely]]
      return tracing_.get();
    const Options& options = context_.runtime.options();
    if (!options.tracing || !options.autotrace) return nullptr;
    if (context_.parent != nullptr &&
        context_.launches < std::min<std::size_t>(32, options.autotrace_sample / 2))
      return nullptr;
    return &made();
  }
  /// The quick way of a launch: it is the next call of what is replayed, and is given no futures.
  bool replay_next(const LaunchRequest& request) {
    return cursor_ != nullptr && cursor_->replay_next(request);
  }
  /// Makes a call that a trace may hold, and that is no launch. Either take(cursor) gives a replay what only this call
  /// has, or analyse() analyses it, and it is recorded if there is a recording. It names the states of these fields.
  template <class Take, class Analyse>
  void make(const CallIdentity& call, std::span<detail::FutureState* const> futures,
            std::initializer_list<analysis::FieldState*> fields, Take take, Analyse analyse) {
    std::vector<std::uint64_t> key;
    if (tracing_ != nullptr) key = call.key();
    const TracedCall traced{key,     call.name(), call.where,        nullptr,
                            futures, false,       call.op != nullptr};
    if (tracing_ != nullptr) {
      if (tracing_->offer(traced)) {
        take(tracing_->cursor());
        return tracing_->cursor().issue_step();
      }
      tracing_->make_way();
    }
    const ShownAnalysis shown(context_.runtime.listener(Events::times), context_.runtime.executor(),
                              call.name(), call.where);
    const std::uint64_t token = call.signature().token();
    context_.note_call(token, call.name());
    if (tracing_ != nullptr) tracing_->analysing(token);
    try {
      analyse();
    } catch (...) {
      untraceable("a call failed");
      throw;
    }
    if (tracing_ != nullptr) tracing_->analysed(traced, token, fields, call.regions());
  }
  void untraceable_call(const char* what) {
    if (tracing_ != nullptr) tracing_->untraceable_call(what);
  }
  void leave_trace(const Trace& trace) {
    if (tracing_ != nullptr) tracing_->leave_trace(trace);
  }
  [[nodiscard]] std::string left_open() const {
    return tracing_ != nullptr ? tracing_->left_open() : std::string();
  }
  void print(std::ostream& out) const {
    if (tracing_ != nullptr) tracing_->print(out);
  }
  void close() {
    if (tracing_ != nullptr) tracing_->close();
  }
  void abandon() noexcept {
    if (tracing_ != nullptr) tracing_->abandon();
  }
  [[nodiscard]] TraceCounters counters() const {
    return tracing_ != nullptr ? tracing_->counters() : TraceCounters{};
  }
  [[nodiscard]] AutotraceCounters autotrace_counters() const {
    return tracing_ != nullptr ? tracing_->autotrace_counters() : AutotraceCounters{};
  }

  // --- DeferredState -------------------------------------------------------------------------------------

  void settle() override {
    if (tracing_ != nullptr) tracing_->settle();
  }
  void untraceable(const char* what) override {
    if (tracing_ != nullptr) tracing_->untraceable(what);
  }
  exec::NodeRef resolve(const exec::NodeRef& producer) override {
    return tracing_ != nullptr ? tracing_->resolve(producer) : producer;
  }
  [[nodiscard]] std::string why_analysed() override {
    return tracing_ != nullptr ? tracing_->why_analysed()
                               : not_looked_for(context_.runtime.options());
  }
  [[nodiscard]] bool is_marked() const override {
    return tracing_ != nullptr && tracing_->is_marked();
  }

 private:
  ContextCore& context_;
  std::unique_ptr<Tracing> tracing_;
  ReplayCursor* cursor_ = nullptr;  ///< its
};

}  // namespace refrain::runtime
