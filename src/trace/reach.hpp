#pragma once
// Which operations reach an operation, for transitive reduction (trace/optimiser.hpp). Operations come in order and
// edges lead upwards, so every path that joins the ends of an edge lies between them. The *row* of an operation says
// who reaches it; joining an edge merges the row of its source. Two representations of rows, one interface:
//
//   begin(node)                the next operation: nothing reaches it yet
//   reached_from(from, data)   whether `from` reaches it, by data edges alone or by any
//   join(from, data)           an edge leads from `from` to it
//   end(node)                  all its edges have been seen
//   steps(), spent()           words or entries that were read; whether the budget is used up
//
// ReachWindow has a bit for each of the latest operations: a few words where no edge spans more than some thousand
// operations. Cost: two words for each 64 operations of the span, per edge that is joined.
//
// ReachChains divides the operations into *chains*, greedily: an operation is appended to a chain whose newest
// operation reaches it, or begins one. On a chain each reaches all later ones, so a row is one number per chain: the
// latest operation there that reaches (Goralcikova and Koubek, 1979, with chains in the place of bit sets). Forgotten
// is whatever no later edge can ask for: rows of operations without further successors, and the entries of a row for
// the part of a chain that has none. So short edges make short rows, however many chains stand side by side. Cost:
// O(w) per edge that is joined, for w chains in use at a time; memory O(operations + rows in use * w).
//
// Pure; any thread.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

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

  void begin(std::uint32_t node) {
    const std::size_t block = node / kBits;
    oldest_ = block < back_ ? 0 : block - back_;
    row_ = row(node);
    for (std::size_t i = oldest_; i <= block; ++i) row_[i & block_mask_] = {0, 0};
  }
  [[nodiscard]] bool reached_from(std::uint32_t from, bool data) const {
    const Block& block = row_[from / kBits & block_mask_];
    return ((data ? block.data : block.any) >> from % kBits & 1) != 0;
  }
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
  void end(std::uint32_t) {}
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] static bool spent() { return false; }

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

/// Chains for edges of one kind, or of any.
class Chains {
 public:
  using Index = std::uint32_t;

  explicit Chains(std::size_t nodes) : nodes_(nodes) {}
  /// Before the first node begins: there may be an edge between these.
  void expect(Index from, Index to) {
    nodes_[from].last_successor = std::max(nodes_[from].last_successor, to);
  }
  /// After that.
  void prepare() {
    for (Index node = 0; node < nodes_.size(); ++node) {
      Index& first = nodes_[nodes_[node].last_successor].first_done;
      nodes_[node].next_done = std::exchange(first, node);
    }
  }
  [[nodiscard]] bool reached_from(Index from) const { return reached_[nodes_[from].chain] > from; }
  void join(Index from) {
    const Row& row = rows_[nodes_[from].row];
    steps_ += row.size();
    for (const Entry& entry : row) {
      Index& end = reached_[entry.chain];
      if (end == 0) touched_.push_back(entry.chain);
      end = std::max(end, entry.end);
    }
  }
  void end(Index node) {
    const bool has_successors = nodes_[node].last_successor > node;
    if (has_successors) put_on_chain(node);
    for (Index done = nodes_[node].first_done; done != kNobody; done = nodes_[done].next_done)
      forget(done, node);
    if (has_successors) store_row(node);
    for (const Index chain : touched_) reached_[chain] = 0;
    touched_.clear();
  }
  /// Entries of rows that were read; and that there is memory for, of 8 bytes.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::size_t entries() const { return entries_; }

 private:
  static constexpr Index kNobody = std::numeric_limits<Index>::max();

  struct Node {
    Index last_successor = 0;
    Index first_done = kNobody, next_done = kNobody;  ///< those whose last successor this is
    Index chain = kNobody;
    Index next_on_chain = kNobody;
    Index row = kNobody;
  };
  struct Chain {
    Index oldest = kNobody;  ///< of the nodes with successors to come; kNobody: the chain is free
    Index newest = kNobody;
  };
  struct Entry {
    Index chain;
    Index end;  ///< the nodes of the chain below it are reached
  };
  using Row = std::vector<Entry>;

  /// A number that was free, or the next one.
  template <class T>
  static Index take(std::vector<Index>& free, std::vector<T>& all) {
    if (free.empty()) {
      all.emplace_back();
      return static_cast<Index>(all.size() - 1);
    }
    const Index number = free.back();
    free.pop_back();
    return number;
  }

  void put_on_chain(Index node) {
    const auto ends_here = [&](Index c) { return chains_[c].newest == reached_[c] - 1; };
    const auto found = std::ranges::find_if(touched_, ends_here);
    const Index c = found != touched_.end() ? *found : take(free_chains_, chains_);
    reached_.resize(chains_.size());
    if (chains_[c].newest == kNobody) chains_[c].oldest = node;
    else nodes_[chains_[c].newest].next_on_chain = node;
    chains_[c].newest = node;
    nodes_[node].chain = c;
  }

  /// Forgets a node whose last successor is `last`, and its chain if no other node on it has successors to come.
  void forget(Index done, Index last) {
    Node& node = nodes_[done];
    if (node.row == kNobody) return;
    free_rows_.push_back(node.row);
    node.row = kNobody;
    Chain& chain = chains_[node.chain];
    while (chain.oldest != kNobody && nodes_[chain.oldest].last_successor <= last)
      chain.oldest = nodes_[chain.oldest].next_on_chain;
    if (chain.oldest == kNobody && chain.newest != kNobody) {
      chain.newest = kNobody;
      free_chains_.push_back(node.chain);
    }
  }

  /// The own chain comes first, so that a successor rather continues it.
  void store_row(Index index) {
    Node& node = nodes_[index];
    node.row = take(free_rows_, rows_);
    Row& row = rows_[node.row];
    const std::size_t capacity = row.capacity();
    row.clear();
    row.push_back({node.chain, index + 1});
    for (const Index c : touched_) {
      // Also false for entries that an earlier user of the chain's number left behind: they are below the oldest.
      const bool wanted = chains_[c].oldest != kNobody && reached_[c] > chains_[c].oldest;
      if (c != node.chain && wanted) row.push_back({c, reached_[c]});
    }
    entries_ += row.capacity() - capacity;
  }

  std::vector<Node> nodes_;
  std::vector<Chain> chains_;
  std::vector<Index> free_chains_;
  std::vector<Row> rows_;
  std::vector<Index> free_rows_;
  std::uint64_t steps_ = 0;
  std::size_t entries_ = 0;
  // Of the present node: the union of its predecessors' rows.
  std::vector<Index> reached_;  ///< per chain, as Entry::end; 0: nothing
  std::vector<Index> touched_;  ///< the chains where it is not 0
};

class ReachChains {
 public:
  ReachChains(std::size_t nodes, std::uint64_t most_steps, std::size_t most_entries)
      : any_(nodes), data_(nodes), most_steps_(most_steps), most_entries_(most_entries) {}

  void expect(std::uint32_t from, std::uint32_t to, bool data) {
    any_.expect(from, to);
    if (data) data_.expect(from, to);
  }
  void prepare() {
    any_.prepare();
    data_.prepare();
  }
  void begin(std::uint32_t) {}
  [[nodiscard]] bool reached_from(std::uint32_t from, bool data) const {
    return data ? data_.reached_from(from) : any_.reached_from(from);
  }
  void join(std::uint32_t from, bool data) {
    if (!any_.reached_from(from)) any_.join(from);
    if (data) data_.join(from);
  }
  void end(std::uint32_t node) {
    if (spent()) return;
    any_.end(node);
    data_.end(node);
  }
  [[nodiscard]] std::uint64_t steps() const { return any_.steps() + data_.steps(); }
  [[nodiscard]] bool spent() const {
    return steps() > most_steps_ || any_.entries() + data_.entries() > most_entries_;
  }

 private:
  Chains any_, data_;
  std::uint64_t most_steps_;
  std::size_t most_entries_;
};

}  // namespace refrain::trace
