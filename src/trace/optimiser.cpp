#include "trace/optimiser.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

namespace refrain::trace {

namespace {

using exec::EdgeKind;

// Which operations reach an operation. Operations come in order and edges lead upwards, so every path that joins the ends
// of an edge lies between them. Two representations with one interface:
//
//   begin(node, earliest)      the next operation: nothing reaches it yet; asked for is `earliest` at most
//   reached_from(from, data)   whether `from` reaches it, by data edges alone or by any
//   join(from, data)           an edge leads from `from` to it
//   steps(), spent()           words or edges that were read; whether the budget is used up

/// A row has a bit for each of the latest operations: a few words where no edge spans more than some thousand
/// operations. Cost: two words for each 64 operations of the span, per edge that is joined.
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

  void begin(std::uint32_t node, std::uint32_t) {
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

/// No rows: joining an edge searches upwards from its source, through the edges that have been joined, for all operations
/// that reach it, down to the earliest that is asked for. Cost: the edges between these. Those are few where edges are
/// long because many operations stand side by side.
class ReachSearch {
 public:
  ReachSearch(std::size_t nodes, std::uint64_t most_steps)
      : first_edge_(nodes + 1), reached_(nodes), most_steps_(most_steps) {}

  void begin(std::uint32_t node, std::uint32_t earliest) {
    node_ = node;
    earliest_ = earliest;
    first_edge_[node] = first_edge_[node + 1] = edges_.size();
  }
  [[nodiscard]] bool reached_from(std::uint32_t from, bool data) const {
    return (data ? reached_[from].by_data : reached_[from].by_any) > node_;
  }
  void join(std::uint32_t from, bool data) {
    edges_.push_back({from, data});
    first_edge_[node_ + 1] = edges_.size();
    for (to_visit_.push_back({from, data}); !to_visit_.empty();) {
      const Edge next = to_visit_.back();
      to_visit_.pop_back();
      if (next.from < earliest_ || reached_from(next.from, next.data)) continue;
      reached_[next.from].by_any = node_ + 1;
      if (next.data) reached_[next.from].by_data = node_ + 1;
      for (std::size_t i = first_edge_[next.from]; i < first_edge_[next.from + 1]; ++i, ++steps_)
        to_visit_.push_back({edges_[i].from, edges_[i].data && next.data});
    }
  }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] bool spent() const { return steps_ > most_steps_; }

 private:
  struct Edge {
    std::uint32_t from;
    bool data;
  };
  /// One more than the last operation that is known to be reached.
  struct Reached {
    std::uint32_t by_any = 0, by_data = 0;
  };

  std::vector<Edge> edges_;              ///< joined so far, by target
  std::vector<std::size_t> first_edge_;  ///< of each target
  std::vector<Reached> reached_;
  std::vector<Edge> to_visit_;
  std::uint32_t node_ = 0, earliest_ = 0;
  std::uint64_t steps_ = 0, most_steps_;
};

/// One replay and, where edges are carried, the part of the next that they can lead to.
struct Extent {
  std::size_t nodes;
  std::size_t span = 0;  ///< that the longest edge has

  Extent(std::uint32_t operations, const RecordedEdges& edges) : nodes(operations) {
    for (const RecordedEdge& edge : edges.inner)
      span = std::max(span, std::size_t{edge.to} - edge.from);
    for (const RecordedEdge& edge : edges.carried) {
      const std::size_t to = std::size_t{operations} + edge.to;
      nodes = std::max(nodes, to + 1);
      span = std::max(span, to - edge.from);
    }
  }
  [[nodiscard]] bool fits_window(const OptimiserBudget& budget) const {
    const std::size_t words = ReachWindow::words_for(span);
    return words <= std::min<std::uint64_t>(kMostWords, budget.steps_per_operation) &&
           ReachWindow::words_for_all(nodes, span) <= budget.entries;
  }

 private:
  static constexpr std::size_t kMostWords = 64;  ///< longer rows are long mostly in vain
};

std::vector<RecordedEdge> by_target(std::vector<RecordedEdge> edges) {
  if (!std::ranges::is_sorted(edges, {}, &RecordedEdge::to))
    std::ranges::stable_sort(edges, {}, &RecordedEdge::to);
  return edges;
}

/// Goes through the operations upwards, and through the predecessors of each from the latest down. An edge is implied
/// exactly if those before it reach its source; otherwise it stays and is joined. In the replay that follows, the
/// operations are numbered on, and only the inner edges that stay are joined.
template <class Reach>
class Reduction {
 public:
  Reduction(std::uint32_t operations, RecordedEdges edges, Reach& reach)
      : operations_(operations),
        inner_(by_target(std::move(edges.inner))),
        carried_(by_target(std::move(edges.carried))),
        reach_(reach) {}

  OptimisedEdges run() {
    std::vector<RecordedEdge>&inner = result_.edges.inner, &carried = result_.edges.carried;
    inner.reserve(inner_.size());
    carried.reserve(carried_.size());
    std::size_t at = 0;
    for (std::uint32_t to = 0; to < operations_; ++to) {
      reach_.begin(to, earliest(inner_, at, to));
      at = keep(inner_, at, to, inner);
    }
    const std::uint32_t next = carried_.empty() ? 0 : carried_.back().to + 1;
    at = 0;
    auto kept = inner.cbegin();
    for (std::uint32_t to = 0; to < next; ++to) {
      reach_.begin(operations_ + to, earliest(carried_, at, to));
      for (; !reach_.spent() && kept != inner.cend() && kept->to == to; ++kept)
        reach_.join(operations_ + kept->from, kept->kind == EdgeKind::data);
      at = keep(carried_, at, to, carried);
    }
    result_.removed = inner_.size() - inner.size() + carried_.size() - carried.size();
    result_.steps = reach_.steps();
    return std::move(result_);
  }

 private:
  /// The first operation that edges to this one lead from; they begin at the place `first`.
  static std::uint32_t earliest(const std::vector<RecordedEdge>& edges, std::size_t first,
                                std::uint32_t to) {
    std::uint32_t from = ~std::uint32_t{0};
    for (; first < edges.size() && edges[first].to == to; ++first)
      from = std::min(from, edges[first].from);
    return from;
  }
  /// Edges from the latest operations first; of edges from one operation the data edge.
  static bool later(const RecordedEdge& a, const RecordedEdge& b) {
    return a.from != b.from ? a.from > b.from : a.kind > b.kind;
  }
  /// Keeps those edges to an operation, from the place `first` on, that are not implied. Returns their end.
  std::size_t keep(std::vector<RecordedEdge>& edges, std::size_t first, std::uint32_t to,
                   std::vector<RecordedEdge>& kept) {
    std::size_t last = first;
    while (last < edges.size() && edges[last].to == to) ++last;
    if (last - first > 1) std::sort(edges.data() + first, edges.data() + last, later);
    const auto before = static_cast<std::ptrdiff_t>(kept.size());
    const bool spent = reach_.spent();
    if (spent) result_.unexamined += last - first;
    for (std::size_t i = first; i < last; ++i) {
      const bool data = edges[i].kind == EdgeKind::data;
      if (!spent) {
        if (reach_.reached_from(edges[i].from, data)) continue;
        reach_.join(edges[i].from, data);
      }
      kept.push_back(edges[i]);
    }
    std::reverse(kept.begin() + before, kept.end());
    return last;
  }

  const std::uint32_t operations_;
  std::vector<RecordedEdge> inner_, carried_;
  Reach& reach_;
  OptimisedEdges result_;
};

}  // namespace

OptimisedEdges optimise(std::uint32_t operations, RecordedEdges edges,
                        const OptimiserBudget& budget) {
  const Extent extent(operations, edges);
  if (extent.fits_window(budget)) {
    ReachWindow window(extent.nodes, extent.span);
    return Reduction(operations, std::move(edges), window).run();
  }
  ReachSearch search(extent.nodes, budget.steps_per_operation * operations);
  return Reduction(operations, std::move(edges), search).run();
}

}  // namespace refrain::trace
