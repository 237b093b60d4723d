#include "trace/optimiser.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "trace/transitive_reduction.hpp"

namespace refrain::trace {

namespace {

using exec::EdgeKind;

/// One replay and, where edges are carried, the next, whose operations are numbered on. Of the next
/// replay, what no carried edge can lead to any more is left out.
class Unrolled {
 public:
  Unrolled(std::uint32_t operations, const RecordedEdges& edges)
      : operations_(operations), nodes_(operations), edges_(edges) {
    for (const RecordedEdge& edge : edges.carried) {
      nodes_ = std::max(nodes_, operations + edge.to + 1);
    }
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
  std::uint32_t nodes_;
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

OptimisedEdges optimise(std::uint32_t operations, const RecordedEdges& edges,
                        const OptimiserBudget& budget) {
  OptimisedEdges result;
  Unrolled(operations, edges).reduce(budget, result);
  sort_by_target(result.edges.inner);
  sort_by_target(result.edges.carried);
  return result;
}

}  // namespace refrain::trace
