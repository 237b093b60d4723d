#pragma once
// What repeats at the end of the reference run. How long that goes on is what another size of the problem changes, so a
// run is expected to go on there rather than to do nothing: between the end of the reference's last loop and what it
// did when it had finished, a longer run has more of the loop.
//
// The last loop is a use of the root with several repetitions, and goes on behind them as far as the run
// has the same events one period earlier: the last round may be cut short. Of all those that have a kLeast-th of the run
// and are no shorter than what comes behind them, it is the one that goes on furthest, and of equals the longest.

#include <cstdint>
#include <optional>

#include "oracle/reference.hpp"

namespace refrain::oracle {

struct LastLoop {
  std::uint64_t end;     ///< so many events of the run come before it is over
  std::uint64_t period;  ///< events of one round
  friend bool operator==(const LastLoop&, const LastLoop&) = default;

  /// Loops of a smaller part of the run are part of how it finishes.
  static constexpr std::uint64_t kLeast = 64;
};

/// O(uses), and O(d) for each of at most kFurthest events behind each loop of the size, for paths of d uses. None:
/// nothing repeats there.
[[nodiscard]] std::optional<LastLoop> last_loop(const Grammar& grammar);

}  // namespace refrain::oracle
