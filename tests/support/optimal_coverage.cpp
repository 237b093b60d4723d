#include "support/optimal_coverage.hpp"

#include <algorithm>

namespace refrain::test {

namespace {

using autotrace::Token;
using Text = std::span<const Token>;

/// Goes through the text and at each token chooses what begins there, or nothing.
class Search {
 public:
  Search(Text text, std::uint32_t least_length)
      : words_at_(text.size()), coverable_(text.size() + 1) {
    // What is chosen twice and has twice the least length could as well be its two halves, each chosen twice.
    for (std::uint32_t length = 2 * least_length; length-- > least_length;)
      find_words(text, length);
    for (std::size_t at = text.size(); at-- > 0;) { coverable_[at] += coverable_[at + 1]; }
    chosen_.resize(words_);
  }

  std::size_t best() {
    search(0, 0);
    return best_;
  }

 private:
  struct Word {
    std::uint32_t length;
    std::uint32_t number;  ///< equal words have equal numbers
  };

  /// Those that are there twice without overlap.
  void find_words(Text text, std::uint32_t length) {
    for (std::size_t first = 0; first + 2 * length <= text.size(); ++first) {
      const Text word = text.subspan(first, length);
      const auto is_word = [&](std::size_t at) {
        return std::ranges::equal(text.subspan(at, length), word);
      };
      std::vector<std::size_t> begins;
      for (std::size_t at = 0; at + length <= text.size(); ++at)
        if (is_word(at)) begins.push_back(at);
      if (begins.front() != first || begins.back() < first + length) continue;
      for (const std::size_t at : begins) {
        words_at_[at].push_back({length, words_});
        std::fill_n(coverable_.begin() + std::ptrdiff_t(at), length, 1);
      }
      ++words_;
    }
  }

  void search(std::size_t at, std::size_t covered) {
    if (covered + coverable_[at] <= best_) return;
    if (at == words_at_.size()) {
      if (chosen_once_ == 0) best_ = covered;
      return;
    }
    for (const Word& word : words_at_[at]) {
      choose(word.number, 1);
      search(at + word.length, covered + word.length);
      choose(word.number, -1);
    }
    search(at + 1, covered);
  }
  void choose(std::uint32_t number, int more) {
    if (chosen_[number] == 1) --chosen_once_;
    chosen_[number] += more;
    if (chosen_[number] == 1) ++chosen_once_;
  }

  std::vector<std::vector<Word>> words_at_;  ///< by where they begin, the longest first
  std::vector<std::size_t> coverable_;       ///< how many tokens from here on are in any word
  std::uint32_t words_ = 0;
  std::vector<int> chosen_;  ///< by number: how often
  int chosen_once_ = 0;      ///< how many words
  std::size_t best_ = 0;
};

}  // namespace

std::size_t optimal_coverage(Text text, std::uint32_t least_length) {
  return Search(text, least_length).best();
}

void for_each_text(std::size_t length, std::uint32_t letters,
                   const std::function<void(Text)>& call) {
  std::vector<Token> text(length);
  const std::function<void(std::size_t, Token)> extend = [&](std::size_t at, Token met) {
    if (at == length) return call(text);
    for (Token letter = 0; letter < std::min<Token>(met + 1, letters); ++letter) {
      text[at] = letter;
      extend(at + 1, std::max(met, letter + 1));
    }
  };
  extend(0, 0);
}

std::string in_letters(Text text) {
  std::string letters;
  for (const Token token : text) letters += static_cast<char>('a' + token);
  return letters;
}

}  // namespace refrain::test
