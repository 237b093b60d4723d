#include "repeats/passes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "repeats/alphabet.hpp"

namespace refrain::autotrace {

namespace {

/// How many times the text's length all passes together may look at. Streams of programs of up to 10^5 tokens
/// were done before.
constexpr std::size_t most_looks = 6;

/// A token of what is left, and where it is in the whole text.
struct Left {
  Token token;
  std::uint32_t place;
};
constexpr std::uint32_t gap = std::numeric_limits<std::uint32_t>::max();  ///< as a place

/// What was taken becomes a gap: a token that comes nowhere else, so that no repeat reaches across.
std::vector<Left> without(const std::vector<Left>& left, const std::vector<bool>& taken,
                          Token& next_gap) {
  std::vector<Left> rest;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!taken[i]) rest.push_back(left[i]);
    else if (rest.empty() || rest.back().place != gap) rest.push_back({next_gap++, gap});
  }
  return rest;
}

/// Those that several passes chose become one. Longest first.
std::vector<Repeat> joined(std::vector<Repeat> repeats, std::span<const Token> text) {
  const auto part = [&](const Repeat& r) { return text.subspan(r.begins.front(), r.length); };
  std::ranges::stable_sort(repeats, [&](const Repeat& a, const Repeat& b) {
    if (a.length != b.length) return a.length > b.length;
    return std::ranges::lexicographical_compare(part(a), part(b));
  });
  std::vector<Repeat> all;
  for (Repeat& repeat : repeats) {
    if (all.empty() || !std::ranges::equal(part(all.back()), part(repeat))) {
      all.push_back(std::move(repeat));
      continue;
    }
    std::vector<std::uint32_t>& begins = all.back().begins;
    begins.insert(begins.end(), repeat.begins.begin(), repeat.begins.end());
    std::ranges::sort(begins);
  }
  return all;
}

}  // namespace

std::vector<Repeat> find_repeats_in_passes(std::span<const Token> text,
                                           std::uint32_t least_length) {
  Alphabet alphabet;
  std::vector<Token> letters;  // so that there are tokens for gaps
  std::vector<Left> left;
  for (const Token token : text) {
    letters.push_back(alphabet.letter(token));
    left.push_back({letters.back(), static_cast<std::uint32_t>(left.size())});
  }
  Token next_gap = alphabet.size();
  std::vector<Repeat> all;
  for (std::size_t looks = left.size(); looks <= most_looks * text.size(); looks += left.size()) {
    std::vector<Token> tokens;
    tokens.reserve(left.size());
    for (const Left& l : left) tokens.push_back(l.token);
    std::vector<bool> taken(left.size());
    const std::size_t before = all.size();
    for (Repeat& repeat : find_repeats(tokens, least_length)) {
      for (std::uint32_t& begin : repeat.begins) {
        std::fill_n(taken.begin() + begin, repeat.length, true);
        begin = left[begin].place;
      }
      all.push_back(std::move(repeat));
    }
    if (all.size() == before) break;
    left = without(left, taken, next_gap);
  }
  return joined(std::move(all), letters);
}

}  // namespace refrain::autotrace
