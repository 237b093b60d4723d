#pragma once
// The traces of one context: marked by the program, or found where it marks none. docs/tracing.md.
//
// The parts are made when the first is needed: the selector with its tree of recordings, replay cursor and recording
// session (selector.hpp), the marks (marked_traces.hpp), and who decides outside of marks (found_traces.hpp). Until then
// this says no to every call. A call is offered before it is analysed: it is replayed, or gets a ticket for its analysis,
// which is recorded when it ends if there is a recording.
//
// Owner: the context's thread.

#include <algorithm>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/call_identity.hpp"
#include "tracing/found_traces.hpp"
#include "tracing/marked_traces.hpp"
#include "tracing/selector.hpp"

namespace refrain::runtime {

class Tracing final : public DeferredState {
 public:
  explicit Tracing(ContextCore& context) : context_(context) { context.deferred = this; }
  Tracing(const Tracing&) = delete;

  [[nodiscard]] bool is_on() const { return parts_ != nullptr; }

  // --- marks (marked_traces.hpp) -------------------------------------------------------------------------

  void begin(const Trace& trace, const Where& where) {
    Parts& parts = made();
    parts.marked.check(trace, where);
    parts.found.interrupt();
    parts.marked.begin(trace, where);
  }
  /// For what ends a trace, and for what asks for replays.
  MarkedTraces& marks() { return made().marked; }
  /// On the way of an exception: silent.
  void leave_trace(const Trace& trace) {
    if (is_on()) parts_->marked.leave(trace);
  }
  [[nodiscard]] std::string left_open() const {
    return is_on() ? parts_->marked.left_open() : std::string();
  }
  /// The context ends, or its body has thrown: no trace is open any more, and the state is up to date.
  void close() {
    if (!is_on()) return;
    parts_->marked.note_left_open();
    if (!is_marked()) parts_->found.leave();
    parts_->selector.close();
    parts_->selector.catch_up();
  }
  /// The context is abandoned: no replay goes on, nothing is recorded, and the state is left as it is.
  void abandon() noexcept {
    if (!is_on()) return;
    parts_->selector.abandon();
    parts_->marked.abandon();
  }

  // --- launches ------------------------------------------------------------------------------------------

  /// The quick way: the launch is the next call of what is replayed, and is given no futures.
  bool replay_next(const LaunchRequest& request) {
    return cursor_ != nullptr && cursor_->replay_next(request);
  }
  /// Whether a launch is offered. Traces are looked for from the first launch on, in a task after a few: most tasks
  /// launch few others, and to look for traces costs as much as some launches.
  bool takes_launches() {
    if (is_on()) [[likely]]
      return true;
    const Options& options = context_.runtime.options();
    if (!options.tracing || !options.autotrace) return false;
    if (context_.parent != nullptr &&
        context_.launches < std::min<std::size_t>(32, options.autotrace_sample / 2))
      return false;
    made();
    return true;
  }
  /// The ticket says whether the call is the next one of the cursor's replay, which is then to be given what only this
  /// call has. Otherwise it is for the analysis of the call.
  Ticket offer(const TracedCall& call) {
    Ticket ticket{call};
    ticket.replayed = parts_->selector.offer(ticket);
    return ticket;
  }
  [[nodiscard]] ReplayCursor& cursor() { return *cursor_; }
  /// Has analyse() analyse the launch of a ticket, and records it if there is a recording.
  template <class Analyse>
  void analyse(Ticket& ticket, LaunchPlan& plan, const LaunchRequest& request, Analyse analyse) {
    // A recording asks who makes the futures. The launch may have the last reference to one, and end before it is asked.
    std::vector<AnyFuture> held;
    held.reserve(request.futures.size());
    for (detail::FutureState* future : request.futures) {
      detail::retain(future);
      held.emplace_back(future);
    }
    analysing(ticket, plan.token, plan.work());
    parts_->selector.make_way(plan);
    attempt(analyse, "a launch failed");
    parts_->selector.analysed(plan.mapped_token(),
                              [&](RecordingSession& session) { session.add(plan, request); });
  }

  // --- other calls ---------------------------------------------------------------------------------------

  /// Makes a call that a trace may hold, and that is no launch. Either take(cursor) gives a replay what only this call
  /// has, or analyse() analyses it, and it is recorded if there is a recording. It names the states of these fields.
  /// `part_of`: the number of the call that it is a part of.
  template <class Take, class Analyse>
  void make(const CallIdentity& call, std::span<detail::FutureState* const> futures,
            std::initializer_list<analysis::FieldState*> fields, Take take, Analyse analyse,
            std::optional<std::uint64_t> part_of = std::nullopt) {
    std::vector<std::uint64_t> key;
    std::optional<Ticket> ticket;
    if (is_on()) {
      key = call.key(context_.forest);
      ticket = offer({key, call.name(), call.where, nullptr, futures, false,
                      call.kind == CallKind::reduce || call.kind == CallKind::send_to_all});
      if (ticket->replayed) {
        take(*cursor_);
        return cursor_->issue_step(part_of);
      }
      // A part of another call does not look at the state: it makes operations that no data comes after.
      if (!part_of) parts_->selector.catch_up();
    }
    const ShownAnalysis shown{context_.runtime.listener(Events::times), context_.runtime.executor(),
                              call.name(), call.where};
    const std::uint64_t token = call.token();
    if (!part_of) context_.note_call(token, call.name());
    if (!ticket) return analyse();
    analysing(*ticket, token, 1);
    attempt(analyse, "a call failed");
    parts_->selector.analysed(token, [&](RecordingSession& session) {
      session.add(ticket->call, token, fields, call.regions());
    });
  }
  /// Before a call of the program that cannot be traced: a sequence with it is not the one without.
  void untraceable_call(const char* what) {
    if (!is_on()) return;
    if (is_marked()) parts_->selector.note_untraceable_call(what);
    else parts_->found.untraceable_call(what);
  }

  // --- reports -------------------------------------------------------------------------------------------

  void print(std::ostream& out) const {
    if (is_on()) parts_->selector.tree().print(out);
  }
  [[nodiscard]] TraceTotals counters() const {
    return is_on() ? cursor_->traces().counters : TraceTotals{};
  }
  [[nodiscard]] AutotraceCounters autotrace_counters() const {
    return is_on() ? parts_->found.counters() : AutotraceCounters{};
  }

  // --- DeferredState -------------------------------------------------------------------------------------

  void settle() override {
    if (is_on()) parts_->selector.settle();
  }
  void settle_on_shards() override {
    if (is_on()) cursor_->catch_up_on_shards();
  }
  void untraceable(const char* what) override {
    if (is_on()) parts_->selector.untraceable(what);
  }
  exec::NodeRef resolve(const exec::NodeRef& producer) override {
    return is_on() ? cursor_->resolve(producer) : producer;
  }
  [[nodiscard]] std::string why_analysed() override {
    if (!is_on()) return not_looked_for(context_.runtime.options());
    return is_marked() ? parts_->marked.why_analysed() : parts_->found.why_analysed();
  }
  [[nodiscard]] bool is_marked() const override { return is_on() && parts_->selector.is_marked(); }

 private:
  struct Parts {
    explicit Parts(ContextCore& context)
        : selector(context, found), marked(selector), found(selector) {}
    Selector selector;
    MarkedTraces marked;
    FoundTraces found;
  };
  Parts& made() {
    if (!is_on()) {
      parts_ = std::make_unique<Parts>(context_);
      cursor_ = &parts_->selector.cursor();
    }
    return *parts_;
  }
  void analysing(Ticket& ticket, autotrace::Token token, autotrace::Work work) {
    if (!is_marked()) parts_->found.analysing(ticket, token, work);
  }
  template <class Analyse>
  void attempt(Analyse analyse, const char* failure) {
    try {
      analyse();
    } catch (...) {
      untraceable(failure);
      throw;
    }
  }

  ContextCore& context_;
  std::unique_ptr<Parts> parts_;    ///< null: nothing is traced yet
  ReplayCursor* cursor_ = nullptr;  ///< the selector's
};

}  // namespace refrain::runtime
