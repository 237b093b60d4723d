#pragma once
// An evaluator runs a program under a mapping. The search knows no more of it: it may start a real program, or ask a
// simulator.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "map_search/space.hpp"

namespace refrain::map_search {

/// How a run ended. All but `ok` say why its mapping is of no use.
enum class Outcome : std::uint8_t {
  ok,
  invalid,        ///< the program lacks a variant, or refuses the mapping
  crashed,        ///< by a signal, or with another status than success
  out_of_memory,  ///< a collection did not fit (section 3.1 lets such mappings fail)
  timeout,        ///< the run took longer than the evaluator allows
  no_output,      ///< the program ended well, and printed no measurement
  changed,        ///< other tasks ran than those of the space
};
inline constexpr std::array<std::string_view, 7> outcome_names{
    "ok", "invalid", "crashed", "out_of_memory", "timeout", "no_output", "changed"};
[[nodiscard]] constexpr std::string_view name(Outcome outcome) {
  return outcome_names[static_cast<std::size_t>(outcome)];
}

/// One run.
struct Run {
  Outcome outcome = Outcome::ok;
  double seconds = 0;       ///< what the program took
  std::uint64_t bytes = 0;  ///< what it copied between memories
  double cost = 0;          ///< seconds of the search's budget: start, set-up and end included
  std::string text;         ///< one sentence about a run that failed

  friend bool operator==(const Run&, const Run&) = default;
};

class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;

  /// Runs the program once. What goes wrong with the program is an outcome; what makes every further run useless (the
  /// program is gone, say) is thrown, and ends the search. `mapping` is executable.
  virtual Run run(const Mapping& mapping) = 0;
};

}  // namespace refrain::map_search
