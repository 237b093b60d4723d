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

namespace refrain::runtime {

struct LaunchPlan;
class TraceExecution;
struct RecordedCall;

enum class Events : std::uint8_t {
  execution,   ///< executed: threads then look at the clock for each operation
  graph,       ///< operation, edge, opened, closed: all edges, so replays are followed step by step
  calls,       ///< program_begins, called
  times,       ///< timed
  decisions,   ///< asked, launched, occurred: reasons are then put into words
  recordings,  ///< recorded
  autotrace,   ///< autotraced
};
inline constexpr std::size_t kEvents = 7;

class Listener : public exec::ExecutionListener, public analysis::GraphLog {
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

  // execution
  void executed(const exec::Executed&) override {}
  // graph
  void operation(const analysis::LoggedOperation&) override {}
  void edge(std::uint64_t, std::uint64_t, std::uint64_t, exec::EdgeKind) override {}
  /// A nested context lives: the identity of its scope, and its number in the graph.
  virtual void opened(std::uint64_t /*identity*/, std::uint64_t /*context*/) {}
  virtual void closed(std::uint64_t /*identity*/) {}
  // calls
  /// All calls from here on are those of another program, which the runtime begins to run.
  virtual void program_begins() {}
  virtual void called(const Call&) {}
  // times
  /// A call was analysed, or part of a trace recorded or replayed (so many calls), until now.
  virtual void timed(int /*thread*/, const profile::Event&) {}
  // decisions
  /// The mapper was asked about every point of the launch.
  virtual void asked(const LaunchPlan&) {}
  /// A launch has its instances. `why` it was analysed; empty: it was replayed.
  virtual void launched(LaunchPlan&, const std::string& /*why*/) {}
  /// An occurrence of a marked trace has ended.
  virtual void occurred(std::uint64_t /*trace*/, const std::string& /*name*/, Where /*begun_at*/,
                        const TraceExecution&) {}
  // recordings
  virtual void recorded(const Recorded&) {}
  // autotrace
  /// A line of the log of automatic tracing (docs/automatic-tracing.md).
  virtual void autotraced(const std::string& /*line*/) {}
};

/// The listeners of a runtime, by kind.
class Listeners {
 public:
  void add(Listener& listener, std::initializer_list<Events> kinds) {
    for (const Events kind : kinds)
      several_[static_cast<std::size_t>(kind)].all.push_back(&listener);
    choose();
  }
  void remove(Listener& listener) {
    for (Several& each : several_) std::erase(each.all, &listener);
    choose();
  }
  /// Who is to be told of such events; null: nobody listens.
  [[nodiscard]] Listener* of(Events kind) const { return told_[static_cast<std::size_t>(kind)]; }

 private:
  /// Passes every event on.
  class Several final : public Listener {
   public:
    std::vector<Listener*> all;

    template <class... Parameters, class... Arguments>
    void tell(void (Listener::*event)(Parameters...), Arguments&&... arguments) {
      for (Listener* each : all) (each->*event)(arguments...);
    }
    void executed(const exec::Executed& ran) override { tell(&Listener::executed, ran); }
    void operation(const analysis::LoggedOperation& one) override {
      tell(&Listener::operation, one);
    }
    void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to,
              exec::EdgeKind kind) override {
      tell(&Listener::edge, scope, from, to, kind);
    }
    void opened(std::uint64_t identity, std::uint64_t context) override {
      tell(&Listener::opened, identity, context);
    }
    void closed(std::uint64_t identity) override { tell(&Listener::closed, identity); }
    void program_begins() override { tell(&Listener::program_begins); }
    void called(const Call& call) override { tell(&Listener::called, call); }
    void timed(int thread, const profile::Event& event) override {
      tell(&Listener::timed, thread, event);
    }
    void asked(const LaunchPlan& plan) override { tell(&Listener::asked, plan); }
    void launched(LaunchPlan& plan, const std::string& why) override {
      tell(&Listener::launched, plan, why);
    }
    void occurred(std::uint64_t trace, const std::string& name, Where begun,
                  const TraceExecution& occurrence) override {
      tell(&Listener::occurred, trace, name, begun, occurrence);
    }
    void recorded(const Recorded& recording) override { tell(&Listener::recorded, recording); }
    void autotraced(const std::string& line) override { tell(&Listener::autotraced, line); }
  };
  void choose() {
    for (std::size_t kind = 0; kind < kEvents; ++kind) {
      std::vector<Listener*>& all = several_[kind].all;
      told_[kind] = all.empty() ? nullptr : all.size() == 1 ? all.front() : &several_[kind];
    }
  }

  std::array<Listener*, kEvents> told_{};
  std::array<Several, kEvents> several_;
};

/// What was done for a call or a trace, until now.
inline profile::Event until_now(profile::Category what, std::string_view subject,
                                const Where& where, std::uint64_t begin_ns,
                                profile::EventNumber number = {}) {
  return {to_string(what), what, begin_ns, profile::now_ns(), subject, where, {number}};
}

/// Tells that a call is being analysed, at the end of the scope.
struct ShownAnalysis {
  Listener* const listener;
  const exec::Executor& executor;
  const std::string_view call;
  const Where& where;
  const std::uint64_t begin_ns = listener != nullptr ? profile::now_ns() : 0;

  ~ShownAnalysis() {
    if (listener != nullptr)
      listener->timed(executor.this_thread(),
                      until_now(profile::Category::analysing, call, where, begin_ns));
  }
};

}  // namespace refrain::runtime
