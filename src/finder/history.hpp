#pragma once
// The last tokens of a stream, for mining.
//
// Owner: one thread. Memory: bounded by twice the capacity (and what a context takes).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "repeats/repeats.hpp"

namespace refrain::autotrace {

/// Some tokens in a row, as they were made.
struct Sample {
  std::vector<Token> tokens;
  enum Kind : std::uint8_t { analysed, replayed, end_of_replay };
  std::vector<Kind> kinds;  ///< what became of their calls
};

/// Calls that are no calls of the stream have a token of their own each; those are the last numbers that there are, no
/// more likely a token of a call than others.
[[nodiscard]] constexpr Token unique_token(std::uint64_t number) { return ~number; }
[[nodiscard]] constexpr bool is_unique(Token token) { return ~token < std::uint64_t{1} << 32; }

/// What comes before a call tells apart the places of a long loop where the same call is made: the hash of the last few
/// tokens of these. What is unique is not told from other such.
constexpr std::size_t kContext = 16;
[[nodiscard]] std::uint64_t context_of(std::span<const Token> before);

class History {
 public:
  explicit History(std::size_t capacity) : capacity_(std::max<std::size_t>(1, capacity)) {}

  /// All that were ever added.
  [[nodiscard]] std::uint64_t count() const { return forgotten_ + tokens_.size(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  void add(Token token) {
    tokens_.push_back(token);
    if (tokens_.size() >= 2 * kept_) [[unlikely]]
      forget();
  }
  /// Those of a replay.
  void add_replayed(std::span<const Token> tokens) {
    replays_.push_back({count(), count() + tokens.size()});
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    if (tokens_.size() >= 2 * kept_) forget();
  }
  /// context_of all but the last `skipped`.
  [[nodiscard]] std::uint64_t context(std::size_t skipped) const {
    return context_of(std::span(tokens_).first(tokens_.size() - std::min(skipped, tokens_.size())));
  }
  /// The last `length` of those that are remembered.
  [[nodiscard]] Sample last(std::size_t length) const;

 private:
  /// From and to the token with this number.
  struct Replay {
    std::uint64_t begin, end;
  };
  void forget();

  std::size_t capacity_;
  std::size_t kept_ = std::max(capacity_, kContext);
  std::uint64_t forgotten_ = 0;
  std::vector<Token> tokens_;
  std::vector<Replay> replays_;  ///< disjoint, ascending
};

}  // namespace refrain::autotrace
