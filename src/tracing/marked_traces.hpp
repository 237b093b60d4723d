#pragma once
// The traces that the program marks (Context::begin_trace, end_trace and require_replay). A mark is the root of a tree of
// recordings, by Trace::id (dynamic tracing paper, section III).
//
// Owner: the context's thread; what other contexts ask is in OpenMark. Memory: bounded by kMostSequences.

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "refrain/trace.hpp"
#include "tracing/selector.hpp"

namespace refrain::runtime {

/// The mark that is open in one context of the process: so that whoever ends it in another context is told where it was
/// begun.
///
/// Threads: begin, end and abandon by the context's thread, elsewhere by any. Cost of begin and end: a store or two; the
/// lock of all contexts is taken where one comes, ends with a trace open, or is asked about.
class OpenMark {
 public:
  /// `context`: what messages call it.
  explicit OpenMark(std::string context);
  ~OpenMark();
  OpenMark(const OpenMark&) = delete;

  void begin(std::uint64_t trace, const Where& where) {
    // release: partners of the loads in begun_here. Who sees this place sees that the trace before has ended.
    file_.store(where.file_name(), std::memory_order_release);
    line_.store(where.line(), std::memory_order_release);
    // release: partner of the load in begun_here; the place is there.
    trace_.store(trace, std::memory_order_release);
  }
  void end() { trace_.store(0, std::memory_order_relaxed); }
  /// The context ends. A trace that is open there is remembered as such.
  void abandon();

  /// Says where another context has begun the trace, as the end of a message; empty: it is open nowhere.
  static std::string elsewhere(std::uint64_t trace);

 private:
  [[nodiscard]] std::string begun_here(std::uint64_t trace) const;

  const std::string context_;
  std::atomic<std::uint64_t> trace_{0};     ///< 0: none
  std::atomic<const char*> file_{nullptr};  ///< where it was begun
  std::atomic<std::uint32_t> line_{0};
};

class MarkedTraces {
 public:
  /// `selector` outlives this.
  explicit MarkedTraces(Selector& selector);

  /// Throw UsageError when a trace is open, or this one is not; end() also when it had to be replayed. check() comes
  /// before what begins one.
  void check(const Trace& trace, const Where& where) const {
    if (selector_.is_marked()) [[unlikely]]
      fail_nested(trace, where);
  }
  void begin(const Trace& trace, const Where& where);
  void end(const Trace& trace, const Where& where);
  /// The same on the way of an exception: silent.
  void leave(const Trace& trace);
  void require_replay(const Trace& trace, const Where& where);
  /// The error of a context that ends now, while a trace is open. Empty: none is.
  [[nodiscard]] std::string left_open() const;
  /// The context ends: a trace that is open is remembered as left open.
  void note_left_open() { open_.abandon(); }
  /// The context is abandoned: no trace is open any more.
  void abandon() noexcept { open_.end(); }
  /// Why a call in a mark is analysed.
  [[nodiscard]] std::string why_analysed() const;

 private:
  /// Sequences of calls that a trace has had; with more it learns them anew.
  static constexpr std::size_t kMostSequences = 65536;
  struct Required {
    Where where;
    /// By hash of a sequence of calls. True: the sequence has once found its data elsewhere, and may not again.
    std::unordered_map<std::uint64_t, bool> settled;
  };
  [[nodiscard]] bool is_open(const Trace& trace) const {
    return selector_.is_marked() && selector_.trace().id == trace.id();
  }
  [[nodiscard]] bool is_required(const Trace& trace) const {
    return !required_.empty() && required_.contains(trace.id());  // of most programs, none is
  }
  void close();
  [[noreturn]] void fail_nested(const Trace& trace, const Where& where) const;
  void judge(Required& required, const Trace& trace, Where begun, Where ended);

  Selector& selector_;
  OpenMark open_;
  std::unordered_map<std::uint64_t, Required> required_;  ///< by Trace::id
};

}  // namespace refrain::runtime
