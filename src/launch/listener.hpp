#pragma once
// The stream of a runtime's events, and its listeners. Reports are listeners (report/). A listener names the kinds of
// events that it wants; others cost it nothing. A new report is a class that overrides some events.
//
// Threads: the thread that ran an operation tells it; the thread of a context tells all else. Several contexts tell
// at once, so a listener locks, unless its events come from the program's context only. Listeners come and go while
// no program runs. Cost of a kind to which nobody listens: the test of a pointer.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/logs.hpp"
#include "graph/executor.hpp"
#include "profile/clock.hpp"
#include "profile/timeline.hpp"

namespace refrain::trace {
struct Recording;
}
namespace refrain::net {
struct Passed;
}

namespace refrain::runtime {

struct LaunchPlan;
struct ProgramCall;
class TraceExecution;
struct RecordedCall;

enum class Events : std::uint8_t {
  execution,   ///< executed: threads then look at the clock for each operation
  graph,       ///< operation, edge, opened, closed: all edges, so replays are followed step by step
  calls,       ///< program_begins, called
  times,       ///< timed
  decisions,   ///< asked, launched, trace_ended: reasons are then put into words
  recordings,  ///< recorded
  autotrace,   ///< autotraced
  program,     ///< program_call: all calls of programs are then looked at
  bodies,      ///< ran, moved: each body and each move looks at the clock
  messages,    ///< passed
  count        ///< of kinds, no kind
};
inline constexpr auto kEvents = static_cast<std::size_t>(Events::count);

class Listener : public analysis::GraphLog {
 public:
  /// What a call is to traces: they may hold it, end at it, or go on beside it.
  enum class Traces : std::uint8_t { hold, end, ignore };
  /// A call of the program's context, whatever becomes of it.
  struct Call {
    std::uint64_t token = 0;  ///< (launch/call_identity.hpp)
    /// The task's, or what is done: "fill". Empty, perhaps, if the program has made the call before.
    std::string_view name;
    Traces traces = Traces::hold;
    bool marked = false;  ///< within a trace that the program marks
  };
  /// A recording that was made. Good during the event, while replays of it may run.
  struct Recorded {
    std::uint64_t trace;   ///< Trace::id
    const char* ended_by;  ///< why the recording goes no further
    const trace::Recording& recording;
    std::span<const std::shared_ptr<const RecordedCall>> calls;
    std::string name, where;  ///< of the trace; where the recording begins
    bool optimise;            ///< edges that others imply were left out
  };

  /// Values that a body or a move works on, where they lie. Good during the event.
  struct Used {
    const detail::Placement* placement;
    const data::IndexSpace* points;
    std::uint64_t bytes;
    bool reads, writes;
  };
  /// A task's body that has run.
  struct BodyRun {
    const LaunchPlan& plan;
    std::uint32_t rank;  ///< own rank
    std::uint64_t ns;    ///< how long it took
    bool launches;       ///< it has asked for a context of its own
    std::span<const Used> used;
  };
  /// Values that have been copied, filled in or folded.
  struct Move {
    exec::NodeKind kind;
    std::uint64_t bytes, ns;
    std::span<const Used> used;
  };

  // An event that a listener does not override goes to the listeners behind it; only the stand-in for several listeners
  // has any.
  // execution
  virtual void executed(const exec::Executed& ran) { pass_on(&Listener::executed, ran); }
  // graph
  void operation(const analysis::LoggedOperation& one) override {
    pass_on(&Listener::operation, one);
  }
  void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to) override {
    pass_on(&Listener::edge, scope, from, to);
  }
  /// A nested context lives: the identity of its scope, and its number in the graph.
  virtual void opened(std::uint64_t identity, std::uint64_t context) {
    pass_on(&Listener::opened, identity, context);
  }
  virtual void closed(std::uint64_t identity) { pass_on(&Listener::closed, identity); }
  // calls
  /// All calls from here on are those of another program, which the runtime begins to run.
  virtual void program_begins() { pass_on(&Listener::program_begins); }
  virtual void called(const Call& call) { pass_on(&Listener::called, call); }
  // times
  /// A call was analysed, or part of a trace recorded or replayed (so many calls), until now.
  virtual void timed(int thread, const profile::Event& event) {
    pass_on(&Listener::timed, thread, event);
  }
  // decisions
  /// The mapper was asked about every point of the launch.
  virtual void asked(const LaunchPlan& plan) { pass_on(&Listener::asked, plan); }
  /// A launch has its instances. `why` it was analysed; empty: it was replayed.
  virtual void launched(LaunchPlan& plan, const std::string& why) {
    pass_on(&Listener::launched, plan, why);
  }
  /// An execution of a trace, marked or found, has ended.
  virtual void trace_ended(std::uint64_t trace, const std::string& name, Where begun_at,
                           const TraceExecution& execution) {
    pass_on(&Listener::trace_ended, trace, name, begun_at, execution);
  }
  // recordings
  virtual void recorded(const Recorded& recording) { pass_on(&Listener::recorded, recording); }
  // autotrace
  /// A line of the log of automatic tracing (docs/automatic-tracing.md).
  virtual void autotraced(const std::string& line) { pass_on(&Listener::autotraced, line); }
  // program
  /// A call of the program's context, with all that it is given (launch/program_call.hpp): a launch or a reduction before it
  /// is made, another one after it.
  virtual void program_call(const ProgramCall& call) { pass_on(&Listener::program_call, call); }
  /// Such a call has returned, or thrown.
  virtual void program_call_ended() { pass_on(&Listener::program_call_ended); }
  // bodies
  virtual void ran(const BodyRun& body) { pass_on(&Listener::ran, body); }
  virtual void moved(const Move& move) { pass_on(&Listener::moved, move); }
  // messages
  /// One of several ranks has sent a message, or taken one in.
  virtual void passed(const net::Passed& message) { pass_on(&Listener::passed, message); }

 private:
  friend class Listeners;
  template <class... Parameters, class... Arguments>
  void pass_on(void (Listener::*event)(Parameters...), Arguments&&... arguments) {
    for (Listener* each : behind_) (each->*event)(arguments...);
  }
  std::vector<Listener*> behind_;
};

/// The listeners of a runtime, by kind.
class Listeners {
 public:
  void add(Listener& listener, std::initializer_list<Events> kinds) {
    for (const Events kind : kinds)
      several_[static_cast<std::size_t>(kind)].behind_.push_back(&listener);
    choose();
  }
  void remove(Listener& listener) {
    for (Listener& each : several_) std::erase(each.behind_, &listener);
    choose();
  }
  /// Who is to be told of such events; null: nobody listens.
  [[nodiscard]] Listener* of(Events kind) const { return told_[static_cast<std::size_t>(kind)]; }

 private:
  void choose() {
    for (std::size_t kind = 0; kind < kEvents; ++kind) {
      const std::vector<Listener*>& all = several_[kind].behind_;
      told_[kind] = all.empty() ? nullptr : all.size() == 1 ? all.front() : &several_[kind];
    }
  }

  std::array<Listener*, kEvents> told_{};
  std::array<Listener, kEvents> several_;
};

/// What was done for a call or a trace, until now.
inline profile::Event until_now(profile::Category what, std::string_view subject,
                                const Where& where, std::uint64_t begin_ns,
                                profile::EventNumber number = {}) {
  return {to_string(what), what, begin_ns, profile::now_ns(), subject, where, number};
}

/// Tells that a call is being analysed, at the end of the scope.
struct ShownAnalysis {
  Listener* const listener;
  const exec::Executor& executor;
  const std::string_view call;
  const Where& where;
  const std::uint64_t begin_ns = listener != nullptr ? profile::now_ns() : 0;

  ~ShownAnalysis() {
    if (listener != nullptr) [[unlikely]]
      tell();
  }

 private:
  [[gnu::noinline]] void tell() const {
    listener->timed(executor.this_thread(),
                    until_now(profile::Category::analysing, call, where, begin_ns));
  }
};

}  // namespace refrain::runtime
