#include "trace/optimiser.hpp"

#include <algorithm>
#include <utility>

#include "trace/reach.hpp"

namespace refrain::trace {

namespace {

using exec::EdgeKind;

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
      reach_.begin(to);
      at = keep(inner_, at, to, inner);
      reach_.end(to);
    }
    const std::uint32_t next = carried_.empty() ? 0 : carried_.back().to + 1;
    at = 0;
    auto kept = inner.cbegin();
    for (std::uint32_t to = 0; to < next; ++to) {
      reach_.begin(operations_ + to);
      for (; !reach_.spent() && kept != inner.cend() && kept->to == to; ++kept)
        reach_.join(operations_ + kept->from, kept->kind == EdgeKind::data);
      at = keep(carried_, at, to, carried);
      reach_.end(operations_ + to);
    }
    result_.removed = inner_.size() - inner.size() + carried_.size() - carried.size();
    result_.steps = reach_.steps();
    return std::move(result_);
  }

 private:
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

ReachChains chains_for(std::uint32_t operations, const Extent& extent, const RecordedEdges& edges,
                       const OptimiserBudget& budget) {
  ReachChains chains(extent.nodes, budget.steps_per_operation * operations, budget.entries);
  for (const RecordedEdge& edge : edges.inner) {
    const bool data = edge.kind == EdgeKind::data;
    chains.expect(edge.from, edge.to, data);
    if (operations + edge.to < extent.nodes)
      chains.expect(operations + edge.from, operations + edge.to, data);
  }
  for (const RecordedEdge& edge : edges.carried)
    chains.expect(edge.from, operations + edge.to, edge.kind == EdgeKind::data);
  chains.prepare();
  return chains;
}

}  // namespace

OptimisedEdges optimise(std::uint32_t operations, RecordedEdges edges,
                        const OptimiserBudget& budget) {
  const Extent extent(operations, edges);
  if (extent.fits_window(budget)) {
    ReachWindow window(extent.nodes, extent.span);
    return Reduction(operations, std::move(edges), window).run();
  }
  ReachChains chains = chains_for(operations, extent, edges, budget);
  return Reduction(operations, std::move(edges), chains).run();
}

}  // namespace refrain::trace
