#pragma once
// Graph calculus, the notation of the dynamic tracing paper for task graphs (IV.B, Figure 3):
//
//   e1 := fence;              e1 triggers when all that was launched before has ended
//   e2 := op(T(R^a), e1);     T begins when e1 has triggered; e2 triggers when T has ended
//   e3 := merge(e1, e2);      e3 triggers when e1 and e2 have
//   e4 := e3;                 an event gets another name
//
// Events of the later of two replays have a prime. This is for reading only: what is executed is the graph
// that commands were written for (trace/recording_commands.hpp). Pure; any thread.

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace refrain::trace {

struct Event {
  std::uint32_t number = 0;
  bool primed = false;
  friend bool operator==(const Event&, const Event&) = default;
};

struct Command {
  enum class Kind : std::uint8_t {
    fence,   ///< target := fence
    op,      ///< target := op(text, sources[0])
    merge,   ///< target := merge(sources...)
    copy,    ///< target := sources[0]
    remark,  ///< text, on a line of its own
  };
  Kind kind = Kind::fence;
  Event target{};
  std::vector<Event> sources{};
  std::string text{};
};
using Commands = std::vector<Command>;

/// Copy propagation (IV.C): merges of a single event are left out, and that event put where they were used.
[[nodiscard]] Commands propagate_copies(const Commands& commands);

/// A command a line: "e2' := op(T1(R^a), e1);".
void print(std::ostream& out, const Commands& commands);

}  // namespace refrain::trace
