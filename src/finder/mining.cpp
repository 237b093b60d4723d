#include "finder/mining.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace refrain::autotrace {

namespace {

constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15ull;

/// A polynomial: that of a rotation follows from it.
std::uint64_t polynomial(std::span<const Token> tokens) {
  std::uint64_t hash = 0;
  for (const Token token : tokens) hash = hash * kFactor + token;
  return hash;
}

/// Tokens may be 0: the length counts.
std::uint64_t hash_of(std::span<const Token> tokens) {
  return polynomial(tokens) * kFactor + tokens.size();
}

/// The same for all rotations: of the least.
std::uint64_t hash_of_period(std::span<const Token> period) {
  std::uint64_t leading = 1;  // what the first token counts
  for (std::size_t i = 1; i < period.size(); ++i) leading *= kFactor;
  std::uint64_t hash = polynomial(period), least = hash;
  for (const Token token : period) {
    hash = (hash - token * leading) * kFactor + token;
    least = std::min(least, hash);
  }
  return least * kFactor + period.size();
}

/// Where the period that the sample has at `begin` should begin, from there.
std::size_t beginning_of(const Sample& sample, std::size_t begin, std::size_t length) {
  const auto tokens = std::span(sample.tokens).subspan(begin, length);
  const auto kinds = std::span(sample.kinds).subspan(begin, length);
  std::unordered_map<Token, std::uint32_t> counts;
  for (const Token token : tokens) ++counts[token];
  const auto badness = [&](std::size_t i) {
    const std::size_t before = (i + length - 1) % length;
    const bool replayed = kinds[i] != Sample::analysed;
    const bool joint = !replayed && kinds[before] != Sample::analysed;
    const bool first_of_rare = counts[tokens[before]] > counts[tokens[i]];
    return std::tuple(!joint, replayed, counts[tokens[i]], !first_of_rare);
  };
  std::size_t best = 0;
  auto least = badness(0);
  for (std::size_t i = 1; i < length; ++i)
    if (auto other = badness(i); other < least) best = i, least = other;
  return best;
}

struct Works {
  std::uint64_t all = 0, analysed = 0;
};

Works works(const Sample& sample, std::size_t begin, std::size_t length) {
  Works sum;
  for (std::size_t at = begin; at < begin + length; ++at) {
    sum.all += sample.work[at];
    if (sample.kinds[at] == Sample::analysed) sum.analysed += sample.work[at];
  }
  return sum;
}

/// The fewest tokens in a row that have so much work: no repeat with as much is shorter.
std::size_t fewest_with(const Sample& sample, std::uint64_t least) {
  std::size_t fewest = std::max<std::size_t>(1, least), first = 0;
  std::uint64_t sum = 0;
  for (std::size_t end = 0; end < sample.tokens.size(); ++end) {
    for (sum += sample.work[end]; sum >= least && first <= end; sum -= sample.work[first++])
      fewest = std::min(fewest, end + 1 - first);
  }
  return fewest;
}

class Miner {
 public:
  Miner(const Sample& sample, const MiningLimits& limits) : sample_(sample), limits_(limits) {}

  std::vector<MinedRepeat> mined() && {
    const std::size_t fewest = fewest_with(sample_, limits_.least);
    for (const Repeat& repeat : find_repeats(sample_.tokens, static_cast<std::uint32_t>(fewest)))
      take(repeat);
    return std::move(mined_);
  }

 private:
  [[nodiscard]] std::span<const Token> tokens(std::size_t begin, std::size_t length) const {
    return std::span(sample_.tokens).subspan(begin, length);
  }

  void take(const Repeat& repeat) {
    const std::size_t last = repeat.begins.back();
    const auto count = static_cast<std::uint32_t>(repeat.begins.size());
    const std::uint32_t period = period_of(tokens(last, repeat.length));
    if (2 * period <= repeat.length)
      return take_period(last, period, count * (repeat.length / period));
    if (follows_itself(repeat)) return take_period(last, repeat.length, count);
    const std::size_t end = last + repeat.length;
    for (std::size_t at = last; at < end;) {
      while (at < end && sample_.kinds[at] != Sample::analysed) ++at;
      const std::size_t begin = at;
      while (at < end && sample_.kinds[at] == Sample::analysed) ++at;
      std::size_t behind = at;
      for (; at < end && sample_.kinds[at] != Sample::analysed; ++at)
        if (sample_.kinds[at] == Sample::end_of_replay) behind = at + 1;
      take_stretch(begin, behind - begin, count);
    }
  }

  /// Of a repeat that follows nothing known: calls that were analysed, and replays that followed on them.
  void take_stretch(std::size_t begin, std::size_t length, std::uint32_t count) {
    for (std::size_t from = 0; from < length; from += std::min(length, limits_.most)) {
      const auto piece = tokens(begin + from, std::min(limits_.most, length - from));
      const Works sum = works(sample_, begin + from, piece.size());
      if (sum.all < limits_.least) continue;
      MinedRepeat mined = repeat_of_stretch(piece, count);
      mined.work = sum.all;
      mined.analysed = sum.analysed;
      mined.context = context_of(tokens(0, begin + from));
      add(std::move(mined));
    }
  }

  [[nodiscard]] static bool follows_itself(const Repeat& repeat) {
    return std::ranges::adjacent_find(repeat.begins, [&](std::uint32_t a, std::uint32_t b) {
             return b - a == repeat.length;
           }) != repeat.begins.end();
  }

  void take_period(std::size_t begin, std::uint32_t period, std::uint32_t count) {
    const auto kinds = std::span(sample_.kinds).subspan(begin, period);
    if (std::ranges::find(kinds, Sample::analysed) == kinds.end()) return;
    // In pieces it follows nothing.
    if (period > limits_.most) return take_stretch(begin, period, count);
    add(repeat_of_loop(sample_, begin, period, count, limits_));
  }

  void add(MinedRepeat repeat) {
    if (known_.insert(repeat.identity).second) mined_.push_back(std::move(repeat));
  }

  const Sample& sample_;
  const MiningLimits& limits_;
  std::unordered_set<std::uint64_t> known_;
  std::vector<MinedRepeat> mined_;
};

}  // namespace

MinedRepeat repeat_of_stretch(std::span<const Token> tokens, std::uint32_t count) {
  return {
      {tokens.begin(), tokens.end()}, 0, count, tokens.size(), tokens.size(), hash_of(tokens), 0};
}

/// Entering a replay costs as much as some 60 of its points: a loop of few points is unrolled to as many calls as the
/// least work has operations, or to this many times that work, whichever comes first.
constexpr std::size_t kUnrolled = 64;

MinedRepeat repeat_of_loop(const Sample& sample, std::size_t begin, std::uint32_t period,
                           std::uint32_t count, const MiningLimits& limits) {
  const auto body = std::span(sample.tokens).subspan(begin, period);
  const std::size_t turned = beginning_of(sample, begin, period);
  const Works once = works(sample, begin, period);
  const std::size_t times =
      std::min({(limits.least + period - 1) / period,
                (kUnrolled * limits.least + once.all - 1) / once.all, limits.most / period});
  MinedRepeat mined{
      {}, period, count, times * once.all, times * once.analysed, hash_of_period(body), 0};
  mined.tokens.reserve(times * period);
  for (std::size_t i = 0; i < times * period; ++i)
    mined.tokens.push_back(body[(turned + i) % period]);
  std::vector<Token> before;
  for (std::size_t i = kContext; i > 0; --i)
    before.push_back(body[(turned + kContext * period - i) % period]);
  mined.context = context_of(before);
  return mined;
}

std::uint32_t period_of(std::span<const Token> tokens) {
  // Of each beginning: the longest that is also its end.
  std::vector<std::uint32_t> borders(tokens.size() + 1);
  std::uint32_t border = 0;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    while (border > 0 && tokens[i] != tokens[border]) border = borders[border];
    if (tokens[i] == tokens[border]) ++border;
    borders[i + 1] = border;
  }
  return static_cast<std::uint32_t>(tokens.size() - borders[tokens.size()]);
}

std::vector<MinedRepeat> mine(const Sample& sample, const MiningLimits& limits) {
  return Miner(sample, limits).mined();
}

}  // namespace refrain::autotrace
