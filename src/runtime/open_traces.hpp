#pragma once
// Which traces are open in which contexts of the process: so that whoever ends one in another context is
// told where it was begun.
//
// Threads: begin and end by the context's thread, elsewhere by any. Cost: an uncontended lock each.

#include <cstdint>
#include <mutex>
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

  void begin(std::uint64_t trace, std::source_location where);
  void end();
  /// The context ends. A trace that is open there is remembered as such.
  void abandon();

  /// Says where another context has begun the trace, as the end of a message; empty: it is open nowhere.
  static std::string elsewhere(std::uint64_t trace);

 private:
  const std::string context_;
  std::mutex mutex_;
  std::uint64_t trace_ = 0;  ///< 0: none
  std::source_location where_;
};

}  // namespace refrain::runtime
