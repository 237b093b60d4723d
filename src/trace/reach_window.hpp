#pragma once
// Which of the latest nodes reach a node, as a bit each: transitive reduction where edges are short. Nodes
// come in order and edges lead upwards, so every path that joins the ends of an edge lies between them; when no
// edge spans more than so many nodes, a node's row need not look back further.
//
// Two rows a node, side by side: whom edges of any kind reach it from, and whom data edges alone do.
//
// Cost: two words for each 64 nodes of the span, per edge that stays. Pure; any thread.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace refrain::trace {

class ReachWindow {
 public:
  /// Words of a row, and of all rows, when the longest edge spans so many of so many nodes.
  static std::size_t words_for(std::size_t span) { return span / kBits + 2; }
  static std::size_t words_for_all(std::size_t nodes, std::size_t span) {
    return 2 * rows_for(nodes, span) * std::bit_ceil(words_for(span));
  }

  ReachWindow(std::size_t nodes, std::size_t span)
      : back_(words_for(span) - 1),
        row_mask_(rows_for(nodes, span) - 1),
        block_mask_(std::bit_ceil(words_for(span)) - 1),
        blocks_(std::make_unique_for_overwrite<Block[]>(words_for_all(nodes, span) / 2)) {}

  /// The next node: nothing reaches it yet.
  void begin(std::uint32_t node) {
    const std::size_t block = node / kBits;
    oldest_ = block < back_ ? 0 : block - back_;
    row_ = row(node);
    for (std::size_t i = oldest_; i <= block; ++i) row_[i & block_mask_] = {0, 0};
  }
  /// Whether `from` reaches the node, by data edges alone or any.
  [[nodiscard]] bool reached_from(std::uint32_t from, bool data) const {
    const Block& block = row_[from / kBits & block_mask_];
    return ((data ? block.data : block.any) >> from % kBits & 1) != 0;
  }
  /// An edge leads from `from` to the node.
  void join(std::uint32_t from, bool data) {
    const Block* const more = row(from);
    const Word data_too = data ? ~Word{0} : 0;
    const std::size_t last = from / kBits;
    for (std::size_t i = oldest_; i <= last; ++i) {
      const Block& other = more[i & block_mask_];
      Block& block = row_[i & block_mask_];
      block.any |= other.any;
      block.data |= other.data & data_too;
    }
    const Word bit = Word{1} << from % kBits;
    row_[last & block_mask_].any |= bit;
    row_[last & block_mask_].data |= bit & data_too;
    steps_ += last + 1 - oldest_;
  }
  /// Words that were read, of each kind.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  using Word = std::uint64_t;
  static constexpr std::size_t kBits = 64;
  /// Of 64 nodes.
  struct Block {
    Word any, data;
  };

  static std::size_t rows_for(std::size_t nodes, std::size_t span) {
    return std::bit_ceil(std::min(nodes, span + 1));
  }
  [[nodiscard]] Block* row(std::uint32_t node) const {
    return blocks_.get() + (node & row_mask_) * (block_mask_ + 1);
  }

  std::size_t back_;  ///< blocks of nodes before the present node's that are looked at
  std::size_t row_mask_, block_mask_;
  std::unique_ptr<Block[]> blocks_;  ///< by node and block, each modulo a power of two
  std::size_t oldest_ = 0;           ///< block that the present node's row looks at ...
  Block* row_ = nullptr;             ///< ... which is here
  std::uint64_t steps_ = 0;
};

}  // namespace refrain::trace
