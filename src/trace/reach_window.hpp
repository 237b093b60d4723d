#pragma once
// Which of the latest nodes reach a node, as a bit each: transitive reduction where edges are short. Nodes
// come in order and edges lead upwards, so every path that joins the ends of an edge lies between them; when no
// edge spans more than so many nodes, a node's row need not look back further.
//
// Two rows a node: whom data edges alone reach it from, and whom edges of any kind do.
//
// Cost: a word for each 64 nodes of the span, per edge that stays. Pure; any thread.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace refrain::trace {

class ReachWindow {
 public:
  using Word = std::uint64_t;
  /// Words of a row, and of all rows, when the longest edge spans so many of so many nodes.
  static std::size_t words_for(std::size_t span) { return span / kBits + 2; }
  static std::size_t words_for_all(std::size_t nodes, std::size_t span) {
    return rows_for(nodes, span) * kinds * std::bit_ceil(words_for(span));
  }

  ReachWindow(std::size_t nodes, std::size_t span)
      : back_(words_for(span) - 1),
        row_mask_(rows_for(nodes, span) - 1),
        word_mask_(std::bit_ceil(words_for(span)) - 1),
        words_(std::make_unique_for_overwrite<Word[]>(words_for_all(nodes, span))) {}

  /// The next node: nothing reaches it yet.
  void begin(std::uint32_t node) {
    node_ = node;
    for (std::size_t block = oldest(); block <= node / kBits; ++block)
      for (const bool data : {false, true}) word(node, data, block) = 0;
  }
  /// Whether `from` reaches the node, by data edges alone or any.
  [[nodiscard]] bool reached_from(std::uint32_t from, bool data) {
    return (word(node_, data, from / kBits) >> from % kBits & 1) != 0;
  }
  /// An edge leads from `from` to the node.
  void join(std::uint32_t from, bool data) {
    if (data) merge(from, true);
    if (!data || !reached_from(from, false)) merge(from, false);
  }
  /// Words that were read.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  static constexpr std::size_t kBits = 64, kinds = 2;

  static std::size_t rows_for(std::size_t nodes, std::size_t span) {
    return std::bit_ceil(std::min(nodes, span + 1));
  }
  [[nodiscard]] std::size_t oldest() const {
    const std::size_t block = node_ / kBits;
    return block < back_ ? 0 : block - back_;
  }
  Word* row(std::uint32_t node, bool data) {
    return words_.get() + ((node & row_mask_) * kinds + std::size_t{data}) * (word_mask_ + 1);
  }
  Word& word(std::uint32_t node, bool data, std::size_t block) {
    return row(node, data)[block & word_mask_];
  }
  void merge(std::uint32_t from, bool data) {
    Word* const to = row(node_, data);
    const Word* const more = row(from, data);
    const std::size_t last = from / kBits;
    for (std::size_t block = oldest(); block <= last; ++block)
      to[block & word_mask_] |= more[block & word_mask_];
    to[last & word_mask_] |= Word{1} << from % kBits;
    steps_ += last + 1 - oldest();
  }

  std::size_t back_;  ///< blocks of nodes before the present node's that are looked at
  std::size_t row_mask_, word_mask_;
  std::unique_ptr<Word[]> words_;  ///< by node, kind and block, each modulo a power of two
  std::uint32_t node_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace refrain::trace
