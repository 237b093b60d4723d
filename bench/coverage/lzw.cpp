#include "coverage/lzw.hpp"

#include <map>
#include <utility>

namespace refrain::bench {

using autotrace::Repeat;
using autotrace::Token;

std::vector<Repeat> lzw_phrases(std::span<const Token> text, std::uint32_t least_length) {
  // Phrase 0 is empty; all single tokens count as known from the beginning.
  std::map<std::pair<std::size_t, Token>, std::size_t> longer_by;
  std::vector<Repeat> phrases(1);
  const auto extend = [&](std::size_t phrase, Token token) {
    longer_by[{phrase, token}] = phrases.size();
    phrases.push_back({phrases[phrase].length + 1, {}});
  };
  for (const Token token : text)
    if (!longer_by.contains({0, token})) extend(0, token);

  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t phrase = 0, end = begin;
    for (; end < text.size(); ++end) {
      const auto longer = longer_by.find({phrase, text[end]});
      if (longer == longer_by.end()) break;
      phrase = longer->second;
    }
    phrases[phrase].begins.push_back(static_cast<std::uint32_t>(begin));
    if (end < text.size()) extend(phrase, text[end]);
    begin = end;
  }
  std::erase_if(phrases, [&](const Repeat& phrase) {
    return phrase.length < least_length || phrase.begins.empty();
  });
  return phrases;
}

}  // namespace refrain::bench
