#pragma once
// --refrain:autotrace-log: what became of the calls of one context outside of marks, as JSON lines. docs/automatic-tracing.md
// describes them; `refrain report` draws them.
//
// Owner: the context's thread.

#include <cstdint>
#include <string>

#include "launch/listener.hpp"

namespace refrain::runtime {

class AutotraceLog {
 public:
  /// `told` outlives it.
  AutotraceLog(Listener& told, std::uint64_t context) : told_(told), context_(context) {}
  ~AutotraceLog() { flush(); }
  AutotraceLog(const AutotraceLog&) = delete;

  // `at`: the number of a call, from 0.

  void analysed(std::uint64_t at) { extend(at, 1, false); }
  /// A replay of so many calls; `whole`: to its end.
  void replayed(std::uint64_t at, std::uint64_t calls, bool whole) {
    extend(at, calls, true);
    ++(whole ? stretch_.whole : stretch_.left);
  }
  void mined(std::uint64_t at, std::uint64_t calls, std::uint64_t new_candidates);
  void recorded(std::uint64_t at, std::uint64_t calls) { write("recorded", at, calls); }
  /// A recording was given up after so many calls.
  void abandoned(std::uint64_t at, std::uint64_t calls) { write("abandoned", at, calls); }

 private:
  void extend(std::uint64_t at, std::uint64_t calls, bool are_replayed);
  void write(const char* event, std::uint64_t at, std::uint64_t calls);
  void write(const std::string& fields);
  void flush();

  Listener& told_;
  std::uint64_t context_;
  /// Of calls that became the same: one line.
  struct Stretch {
    std::uint64_t begin = 0, end = 0;
    bool is_replayed = false;
    std::uint64_t whole = 0, left = 0;  ///< replays
  } stretch_;
};

}  // namespace refrain::runtime
