#pragma once
// Which traces are open in which contexts of the process: so that whoever ends one in another context is
// told where it was begun.
//
// Threads: begin, end and abandon by the context's thread, elsewhere by any. Cost of begin and end: a store
// or two; the lock of all contexts is taken where one comes, ends with a trace open, or is asked about.

#include <atomic>
#include <cstdint>
#include <source_location>
#include <string>

namespace refrain::runtime {

/// The trace that is open in one context.
class OpenTrace {
 public:
  /// `context`: what messages call it.
  explicit OpenTrace(std::string context);
  ~OpenTrace();
  OpenTrace(const OpenTrace&) = delete;

  void begin(std::uint64_t trace, std::source_location where) {
    // release: partner of the load in begun_here. Who sees this place sees that the trace before has ended.
    where_.store(where, std::memory_order_release);
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
  std::atomic<std::uint64_t> trace_{0};  ///< 0: none
  std::atomic<std::source_location> where_{};
};

}  // namespace refrain::runtime
