#include "coverage/tandem_repeats.hpp"

#include <algorithm>
#include <map>

namespace refrain::bench {

namespace {

using autotrace::Repeat;
using autotrace::Token;

/// How the best cover of a beginning of the text ends: in `times` times a part, or, if 0, in a token that is
/// not covered.
struct Ending {
  std::uint32_t covered = 0;
  std::uint32_t part = 0;
  std::uint32_t times = 0;
};

std::vector<Ending> best_endings(std::span<const Token> text, std::uint32_t least_length) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::vector<Ending> endings(size + 1);
  // By length of a part: how many of the last tokens are those that came so much earlier.
  std::vector<std::uint32_t> same(size / 2 + 1);
  for (std::uint32_t end = 1; end <= size; ++end) {
    endings[end].covered = endings[end - 1].covered;
    for (std::uint32_t part = least_length; 2 * part <= end; ++part) {
      same[part] = text[end - 1] == text[end - 1 - part] ? same[part] + 1 : 0;
      // More than three times is two and three times in a row.
      for (const std::uint32_t times : {2U, 3U}) {
        if (same[part] < (times - 1) * part) break;
        const std::uint32_t covered = endings[end - times * part].covered + times * part;
        if (covered > endings[end].covered) endings[end] = {covered, part, times};
      }
    }
  }
  return endings;
}

}  // namespace

std::vector<Repeat> tandem_repeats(std::span<const Token> text, std::uint32_t least_length) {
  const std::vector<Ending> endings = best_endings(text, std::max(1U, least_length));
  std::map<std::vector<Token>, Repeat> parts;
  for (std::size_t end = text.size(); end > 0;) {
    const auto [covered, length, times] = endings[end];
    if (times == 0) {
      --end;
      continue;
    }
    for (std::uint32_t i = 0; i < times; ++i) {
      end -= length;
      const auto part = text.subspan(end, length);
      Repeat& repeat = parts[{part.begin(), part.end()}];
      repeat.length = length;
      repeat.begins.push_back(static_cast<std::uint32_t>(end));
    }
  }
  std::vector<Repeat> repeats;
  for (auto& [part, repeat] : parts) {
    std::ranges::reverse(repeat.begins);
    repeats.push_back(std::move(repeat));
  }
  return repeats;
}

}  // namespace refrain::bench
