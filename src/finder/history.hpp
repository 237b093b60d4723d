#pragma once
// The history of a context: its last tokens, and the schedule by which samples of it are mined.
//
// Owner: one thread. Memory: bounded by twice the capacity (and the length of a context).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "finder/ledger.hpp"
#include "repeats/repeats.hpp"

namespace refrain::autotrace {

/// The work of a call: how many operations it is, points of a launch. Times and lengths are counted in it, since it is
/// what the analysis takes and a replay saves.
using Work = std::uint32_t;

/// Some tokens in a row, as they were made.
struct Sample {
  std::vector<Token> tokens;
  enum Kind : std::uint8_t { analysed, replayed, end_of_replay };
  std::vector<Kind> kinds;  ///< what became of their calls
  std::vector<Work> work;   ///< of their calls
};

/// A call that cannot be traced has a token that never comes again. These tokens are the largest numbers, which are no
/// more likely a token of a call than others.
[[nodiscard]] constexpr Token unique_token(std::uint64_t number) {
  return ~std::uint64_t{static_cast<std::uint32_t>(number)};
}
[[nodiscard]] constexpr bool is_unique(Token token) { return ~token >> 32 == 0; }

/// The context of a call: the hash of the last few tokens before it. It tells apart the places of a long loop where the
/// same call is made. Unique tokens count as one.
constexpr std::size_t kContext = 16;
[[nodiscard]] std::uint64_t context_of(std::span<const Token> before);

class History {
 public:
  explicit History(std::size_t capacity) : capacity_(std::max<std::size_t>(1, capacity)) {}

  /// Tokens ever added.
  [[nodiscard]] std::uint64_t count() const { return forgotten_ + tokens_.size(); }
  /// Tokens that last() can return.
  [[nodiscard]] std::size_t size() const { return std::min(tokens_.size(), capacity_); }

  void add(Token token, Work work = 1) {
    tokens_.push_back(token);
    work_.push_back(work);
    if (tokens_.size() >= 2 * kept()) [[unlikely]]
      forget();
  }
  /// The tokens of a replay, and the work of their calls.
  void add_replayed(std::span<const Token> tokens, std::span<const Work> work) {
    replays_.push_back({count(), count() + tokens.size()});
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    work_.insert(work_.end(), work.begin(), work.end());
    if (tokens_.size() >= 2 * kept()) forget();
  }
  /// context_of all but the last `skipped`.
  [[nodiscard]] std::uint64_t context(std::size_t skipped) const {
    return context_of(std::span(tokens_).first(tokens_.size() - std::min(skipped, tokens_.size())));
  }
  /// Those that are remembered.
  [[nodiscard]] std::span<const Token> tokens() const { return tokens_; }
  /// The last `length` of them.
  [[nodiscard]] Sample last(std::size_t length) const;

 private:
  /// From and to the token with this number.
  struct Replay {
    std::uint64_t begin, end;
  };
  [[nodiscard]] std::size_t kept() const { return std::max(capacity_, kContext); }
  void forget();

  std::size_t capacity_;
  std::uint64_t forgotten_ = 0;
  std::vector<Token> tokens_;
  std::vector<Work> work_;       ///< of their calls
  std::vector<Replay> replays_;  ///< disjoint, ascending
};

/// The schedule of mining: small samples often, so that short loops are found soon; large ones seldom, so that long
/// loops are found at all. Yadav et al., section 4.4: sizes are multiples of a constant, in the order of the ruler
/// function. Each size has an account: a size that finds nothing is mined half as often each time. So the cost of mining
/// per launch tends to a small constant where nothing repeats. The first samples are free; later each operation pays for
/// a part of a token that is mined. All times are counted in operations (Work). So decisions are the same in every run,
/// and a loop of few large launches is found as soon as a loop of many small ones.
class Sampling {
 public:
  /// Samples of `multiple`, twice, four times as many tokens ..., up to the whole history.
  Sampling(std::size_t multiple, std::size_t history);

  /// When next() is to be called next: a count of operations.
  [[nodiscard]] std::uint64_t next_at() const { return next_at_; }
  /// The number of tokens to mine now, at most `most`; 0: none. `now`: not before next_at(). `there_are`: tokens in the
  /// history.
  std::size_t next(std::uint64_t now, std::size_t most, std::size_t there_are = ~std::size_t{0});
  /// A candidate was of use, or the stream has changed: all accounts begin anew.
  void restart(std::uint64_t now);

 private:
  /// Small samples and large ones have a purse each: the small ones of a stream that changes often would leave nothing
  /// for the large ones.
  static constexpr std::size_t kSmall = 1024;
  /// Two histories of large samples are free, too, so that a long loop is found as soon as it can be.
  static constexpr std::uint64_t kForFree = 8192, kWorkPerToken = 4;
  /// A size is tried twice before its wait doubles: after a pause an account has an eighth of its maximum.
  static constexpr std::int64_t kTries = 8;
  /// Then all sizes together cost one token in 256 operations and size.
  static constexpr std::uint32_t kLongestWait = 255;
  struct Size {
    std::size_t tokens;
    std::uint64_t due;
    /// The unit is a sample of this size that was due. A useful candidate begins all accounts anew.
    Ledger mining;
  };
  [[nodiscard]] std::uint64_t& credit(const Size& size) {
    return size.tokens <= kSmall ? for_small_ : for_large_;
  }

  /// So much credit is kept.
  [[nodiscard]] std::uint64_t most_credit() const {
    return kWorkPerToken * std::max<std::uint64_t>(kForFree, 2 * sizes_.back().tokens);
  }

  std::vector<Size> sizes_;  ///< ascending: the multiple to the whole history
  /// What may be mined, in operations that pay for it.
  std::uint64_t for_small_ = kWorkPerToken * kForFree, for_large_ = 0;
  std::uint64_t paid_at_ = 0;
  std::uint64_t next_at_ = ~std::uint64_t{0};
};

}  // namespace refrain::autotrace
