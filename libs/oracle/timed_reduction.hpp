#pragma once
// Events and the times between them become a grammar and the delays in it (PYTHIA, sections II-A and II-C), in memory
// that grows with the grammar. The paper keeps all times and replays the run through the grammar at its end. Here those
// of the last events wait, as many as kTimes for each symbol of the grammar; then they are replayed through the
// grammar of that time and added up (time_groups.hpp, which says what of this is exact). A run of fewer events than
// ever wait has exactly the paper's delays.
//
// What it costs: for each event a part of a replay, amortised O(d log n) for paths of d uses and n uses in a rule; but
// one event in 16,384 at most waits for all of it. Memory, beside the reduction's: for each symbol kTimes doubles, or
// 128 KiB, and at most kContexts + 2 groups of 32 bytes, or 512 KiB; while they are replayed several times as much. One
// thread.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracle/delays.hpp"
#include "oracle/grammar.hpp"
#include "oracle/reduction.hpp"
#include "oracle/time_groups.hpp"

namespace refrain::oracle {

/// What Delays are made of.
struct TimedGrammar {
  Grammar grammar;
  std::vector<Delays::Recorded> delays;
};

class TimedReduction {
 public:
  /// `enclosing`: how many uses around a position are told apart, at most TimeGroups::kMostEnclosing. `fewest`: times
  /// that wait, even if the grammar is small; at least 1.
  explicit TimedReduction(unsigned enclosing = 2, std::size_t fewest = 16384)
      : groups_(enclosing), fewest_(fewest), most_waiting_(fewest) {}

  /// What happened next, and how long after the event before, in any one unit; of the first event nobody asks how long.
  /// Requires event < Symbol::kMost and a time that is finite and not negative. After std::bad_alloc it can only be
  /// destroyed.
  void add(std::uint32_t event, double elapsed) {
    if (waiting_.size() == most_waiting_) replay();
    waiting_.push_back(elapsed);
    reduction_.add(event);
  }

  /// The same, if it is the event that is expected and no memory is needed. False: nothing was done.
  bool add_expected(std::uint32_t event, double elapsed) {
    if (waiting_.size() == waiting_.capacity() || waiting_.size() == most_waiting_) return false;
    if (!reduction_.add_expected(event)) return false;
    waiting_.push_back(elapsed);
    return true;
  }

  /// Of all events so far: the grammar is Reduction's, and each event but the first counts once in its delays.
  /// O(symbols).
  [[nodiscard]] TimedGrammar grammar();

  [[nodiscard]] std::uint64_t events() const { return reduction_.events(); }
  [[nodiscard]] std::size_t rules() { return reduction_.rules(); }
  [[nodiscard]] std::size_t symbols() { return reduction_.symbols(); }
  /// All memory that it has.
  [[nodiscard]] std::size_t bytes() const;

 private:
  // For each symbol of the grammar.
  static constexpr std::size_t kTimes = 8;
  static constexpr std::size_t kContexts = 2;

  Grammar replay(std::vector<Delays::Recorded>* recorded = nullptr);

  Reduction reduction_;
  TimeGroups groups_;
  std::vector<double> waiting_;  ///< times of the last events
  const std::size_t fewest_;
  std::size_t most_waiting_;
};

}  // namespace refrain::oracle
