#pragma once
// Candidates: sequences of tokens that may be worth a trace. Yadav et al., section 4.3, with a sorted list for the trie:
// candidates that begin alike are neighbours in it.
//
// Owner: one thread. Memory: bounded; beyond the limits those with the lowest scores go.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "finder/ledger.hpp"
#include "finder/mining.hpp"
#include "repeats/repeats.hpp"

namespace refrain::autotrace {

struct TraceCandidate {
  MinedRepeat repeat;
  std::uint32_t number = 0;   ///< for people: the first is 1
  double appearances = 0;     ///< as of `seen_at`
  std::uint64_t seen_at = 0;  ///< tokens, when it was mined or replayed last
  std::uint32_t recordings = 0;
  std::uint64_t replays = 0;
  /// Recorded a few times and never replayed to its end, it is left alone: its tokens are the same each time, and the
  /// data is not. In tries.
  Ledger recording{kRecordings, kRecordings};

  /// Its work, as often as it has appeared: at most so often, less as time goes by. So one that saves much is preferred,
  /// and an old one can be overtaken.
  [[nodiscard]] double score(std::uint64_t now) const;
  /// To record it all of its work has to be analysed once more; a replay saves what is not replayed already.
  /// Whether that may pay, if it comes a few times as often as it has come.
  [[nodiscard]] bool may_pay(std::uint64_t now) const;
  void appeared(double times, std::uint64_t now);
  [[nodiscard]] double appearances_at(std::uint64_t now) const;

 private:
  static constexpr std::int64_t kRecordings = 3;
};

class Candidates {
 public:
  /// After some tokens, from the beginning of a candidate. Good until a candidate comes or goes.
  struct Position {
    /// Candidates that begin so: neighbours in the order of their tokens.
    std::span<TraceCandidate* const> alike{};
    std::size_t length = 0;  ///< so many tokens
    explicit operator bool() const { return !alike.empty(); }
  };

  /// `most_tokens`: of all together.
  Candidates(std::size_t most, std::size_t most_tokens) : most_(most), most_tokens_(most_tokens) {}
  Candidates(const Candidates&) = delete;

  /// Repeats are new candidates, or appearances of known ones. A known one that was never recorded is replaced, since
  /// the new one may begin elsewhere. Returns how many are new.
  std::size_t add(std::vector<MinedRepeat> repeats, std::uint64_t now);

  [[nodiscard]] Position begin(Token token) const;
  /// Whether one that begins so came after the same context when it was mined.
  [[nodiscard]] static bool is_expected(Position at, std::uint64_t context) {
    return std::ranges::any_of(
        at.alike, [&](const TraceCandidate* each) { return each->repeat.context == context; });
  }
  [[nodiscard]] static Position next(Position at, Token token);
  /// The candidate that ends there, or null.
  [[nodiscard]] static TraceCandidate* ending(Position at);
  /// The candidate with the highest score among those that begin so, the ones that may pay and are
  /// not left alone first; or null.
  [[nodiscard]] static TraceCandidate* best(Position at, std::uint64_t now);
  /// Null: it has gone.
  [[nodiscard]] TraceCandidate* find(std::uint64_t identity);

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] bool empty() const { return all_.empty(); }

 private:
  void rebuild();
  void evict(std::uint64_t now);

  std::size_t most_, most_tokens_;
  std::size_t tokens_ = 0;
  std::uint32_t added_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<TraceCandidate>> all_;  ///< by identity
  std::vector<TraceCandidate*> sorted_;  ///< by their tokens: a trie
};

}  // namespace refrain::autotrace
