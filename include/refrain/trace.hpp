#pragma once
// Traces: parts of a program that repeat. Between begin_trace and end_trace the calls of a context are
// recorded the first time; when the same calls come again, and the data is where it was, what the analysis
// found out is replayed. Nothing else changes: a different sequence of calls, or data in other places, is
// noticed, and analysed (dynamic tracing paper, III); so is, most of the time, a trace whose replays are too short
// to gain anything.
//
//   const Trace step{"step"};
//   for (int t = 0; t < steps; ++t)
//     ctx.trace(step, [&] {
//       ctx.launch(...);
//       ctx.launch(...);
//     });

#include <atomic>
#include <cstdint>
#include <string>

namespace refrain {

/// Names a trace. Each object is a name of its own, whatever its text, so that libraries that are used
/// together do not meet. So what was recorded under one that has ended is never replayed again: it outlives the
/// loop, and in a function it is static. Any context may use it, each with recordings of its own.
class Trace {
 public:
  explicit Trace(std::string name) : name_(std::move(name)), id_(next_id()) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Never repeats in the process.
  [[nodiscard]] std::uint64_t id() const { return id_; }

 private:
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  std::string name_;
  std::uint64_t id_;
};

}  // namespace refrain
