#pragma once
// Which calls of a context were replayed, as its log of automatic tracing has it: their share over time
// (Yadav et al., ASPLOS 2025, Figure 10), and from when on it is steady.
//
// Calls are numbered from 0. A call that was not replayed was analysed, whether the log says so or, where it
// cannot be traced, says nothing.

#include <cstdint>
#include <optional>
#include <vector>

namespace refrain::tools {

class TracedRun {
 public:
  struct Recording {
    std::uint64_t at = 0;     ///< made after so many calls
    std::uint64_t calls = 0;  ///< that it holds
  };

  /// The calls from `from` to before `to`. In order: from >= calls(), to > from.
  void analysed(std::uint64_t from, std::uint64_t to);
  void replayed(std::uint64_t from, std::uint64_t to);
  void recorded(const Recording& recording) { recordings_.push_back(recording); }

  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] const std::vector<Recording>& recordings() const { return recordings_; }
  /// How many of the first `calls` were replayed. O(log of the log's lines).
  [[nodiscard]] std::uint64_t replayed_of_first(std::uint64_t calls) const;
  /// The share of the `window` calls before `call` that were replayed; of all before it, where there are
  /// fewer; 0 where there are none.
  [[nodiscard]] double share_before(std::uint64_t call, std::uint64_t window) const;
  /// The first call of the steady state (finder/trace_finder.hpp), if a window of it has been seen.
  [[nodiscard]] std::optional<std::uint64_t> steady_from() const;

 private:
  struct Stretch {
    std::uint64_t from, to;
    std::uint64_t replayed_before;
  };
  std::vector<Stretch> replayed_;
  std::uint64_t calls_ = 0;
  std::vector<Recording> recordings_;
};

}  // namespace refrain::tools
