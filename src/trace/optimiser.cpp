#include "trace/optimiser.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "trace/reach_window.hpp"
#include "trace/transitive_reduction.hpp"

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
  [[nodiscard]] bool fits(const OptimiserBudget& budget) const {
    const std::size_t words = ReachWindow::words_for(span);
    return words <= std::min<std::uint64_t>(kMostWords, budget.steps_per_operation) &&
           ReachWindow::words_for_all(nodes, span) <= budget.entries;
  }

 private:
  static constexpr std::size_t kMostWords = 64;  ///< longer rows are long mostly in vain
};

/// Edges are short: both kinds at once, and what has been left out within a replay is not looked at again.
class InWindow {
 public:
  InWindow(std::uint32_t operations, const Extent& extent, RecordedEdges edges)
      : operations_(operations),
        next_(static_cast<std::uint32_t>(extent.nodes) - operations),
        inner_(by_target(std::move(edges.inner))),
        carried_(by_target(std::move(edges.carried))),
        window_(extent.nodes, extent.span) {}

  void reduce(OptimisedEdges& result) {
    std::vector<RecordedEdge>&inner = result.edges.inner, &carried = result.edges.carried;
    inner.reserve(inner_.size());
    carried.reserve(carried_.size());
    std::size_t at = 0;
    for (std::uint32_t to = 0; to < operations_; ++to) {
      window_.begin(to);
      at = keep(inner_, at, to, inner);
    }
    at = 0;
    auto kept = inner.cbegin();
    for (std::uint32_t to = 0; to < next_; ++to) {
      window_.begin(operations_ + to);
      for (; kept != inner.cend() && kept->to == to; ++kept)
        window_.join(operations_ + kept->from, kept->kind == EdgeKind::data);
      at = keep(carried_, at, to, carried);
    }
    result.removed = inner_.size() - inner.size() + carried_.size() - carried.size();
    result.steps = window_.steps();
  }

 private:
  static std::vector<RecordedEdge> by_target(std::vector<RecordedEdge> edges) {
    if (!std::ranges::is_sorted(edges, {}, &RecordedEdge::to))
      std::ranges::stable_sort(edges, {}, &RecordedEdge::to);
    return edges;
  }
  /// Those from the latest operations first; of one operation's the data edge.
  static bool later(const RecordedEdge& a, const RecordedEdge& b) {
    return a.from != b.from ? a.from > b.from : a.kind > b.kind;
  }
  /// Of the edges to an operation, which begin at a place, those that others do not imply. Returns their end.
  std::size_t keep(std::vector<RecordedEdge>& edges, std::size_t first, std::uint32_t to,
                   std::vector<RecordedEdge>& kept) {
    std::size_t last = first;
    while (last < edges.size() && edges[last].to == to) ++last;
    if (last - first > 1) std::sort(edges.data() + first, edges.data() + last, later);
    const auto before = static_cast<std::ptrdiff_t>(kept.size());
    for (std::size_t i = first; i < last; ++i) {
      const bool data = edges[i].kind == EdgeKind::data;
      if (window_.reached_from(edges[i].from, data)) continue;
      window_.join(edges[i].from, data);
      kept.push_back(edges[i]);
    }
    std::reverse(kept.begin() + before, kept.end());
    return last;
  }

  const std::uint32_t operations_, next_;
  std::vector<RecordedEdge> inner_, carried_;
  ReachWindow window_;
};

/// Edges of any length: one replay and the next, whose operations are numbered on, by chains of operations.
class Unrolled {
 public:
  Unrolled(std::uint32_t operations, const Extent& extent, const RecordedEdges& edges)
      : operations_(operations), nodes_(static_cast<std::uint32_t>(extent.nodes)), edges_(edges) {
    // Data first: of two edges with the same ends, the one that says more stays.
    append(EdgeKind::data);
    data_arcs_ = arcs_.size();
    append(EdgeKind::order);
  }

  void reduce(const OptimiserBudget& budget, OptimisedEdges& result) {
    const std::span<const Arc> all(arcs_);
    if (data_arcs_ > 0) sort_out(EdgeKind::data, all.first(data_arcs_), 0, budget, result);
    if (data_arcs_ < arcs_.size()) sort_out(EdgeKind::order, all, data_arcs_, budget, result);
  }

 private:
  void append(EdgeKind kind) {
    for (const RecordedEdge& edge : edges_.inner) {
      if (edge.kind == kind) arcs_.push_back({edge.from, edge.to});
    }
    for (const RecordedEdge& edge : edges_.carried) {
      if (edge.kind == kind) arcs_.push_back({edge.from, operations_ + edge.to});
    }
    for (const RecordedEdge& edge : edges_.inner) {
      if (edge.kind == kind && operations_ + edge.to < nodes_) {
        arcs_.push_back({operations_ + edge.from, operations_ + edge.to});
      }
    }
  }

  /// Keeps the edges of that kind, whose arcs begin at `first`, that `arcs` do not imply.
  void sort_out(EdgeKind kind, std::span<const Arc> arcs, std::size_t first,
                const OptimiserBudget& budget, OptimisedEdges& result) const {
    const Reduction reduction =
        trace::reduce(nodes_, arcs, {budget.steps_per_operation * operations_, budget.entries});
    result.steps += reduction.steps;
    std::size_t arc = first;
    const auto keep = [&](const std::vector<RecordedEdge>& given, std::vector<RecordedEdge>& kept) {
      for (const RecordedEdge& edge : given) {
        if (edge.kind != kind) continue;
        if (arcs[arc].to >= reduction.examined) ++result.unexamined;
        if (reduction.redundant[arc++]) ++result.removed;
        else kept.push_back(edge);
      }
    };
    keep(edges_.inner, result.edges.inner);
    keep(edges_.carried, result.edges.carried);
  }

  const std::uint32_t operations_;
  const std::uint32_t nodes_;
  const RecordedEdges& edges_;
  std::vector<Arc> arcs_;
  std::size_t data_arcs_ = 0;
};

void sort_by_target(std::vector<RecordedEdge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const RecordedEdge& a, const RecordedEdge& b) {
    return std::tie(a.to, a.from) < std::tie(b.to, b.from);
  });
}

}  // namespace

OptimisedEdges optimise(std::uint32_t operations, RecordedEdges edges,
                        const OptimiserBudget& budget) {
  OptimisedEdges result;
  const Extent extent(operations, edges);
  if (extent.fits(budget)) {
    InWindow(operations, extent, std::move(edges)).reduce(result);
    return result;
  }
  Unrolled(operations, extent, edges).reduce(budget, result);
  sort_by_target(result.edges.inner);
  sort_by_target(result.edges.carried);
  return result;
}

}  // namespace refrain::trace
