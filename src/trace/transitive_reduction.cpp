#include "trace/transitive_reduction.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"

namespace refrain::trace {

namespace {

using Index = std::uint32_t;
constexpr Index none = std::numeric_limits<Index>::max();

/// Arcs by the node that they lead to, those from later nodes first.
class ArcsByTarget {
 public:
  ArcsByTarget(Index nodes, std::span<const Arc> arcs) : begin_(nodes + 1), order_(arcs.size()) {
    for (const Arc& arc : arcs) {
      REFRAIN_ASSERT(arc.from < arc.to && arc.to < nodes, "arcs lead upwards");
      ++begin_[arc.to];
    }
    // The ends of the lists; filling them from the back makes them the beginnings.
    for (Index v = 1; v <= nodes; ++v) begin_[v] += begin_[v - 1];
    for (std::size_t i = arcs.size(); i-- > 0;) order_[--begin_[arcs[i].to]] = Index(i);
    for (Index v = 0; v < nodes; ++v) {
      std::sort(order_.begin() + begin_[v], order_.begin() + begin_[v + 1], [&](Index a, Index b) {
        return arcs[a].from != arcs[b].from ? arcs[a].from > arcs[b].from : a < b;
      });
    }
  }
  /// Places of the arcs to `node`.
  [[nodiscard]] std::span<const Index> to(Index node) const {
    return {order_.data() + begin_[node], order_.data() + begin_[node + 1]};
  }

 private:
  std::vector<Index> begin_;
  std::vector<Index> order_;
};

class Reducer {
 public:
  Reducer(Index nodes, std::span<const Arc> arcs, const ReductionBudget& budget)
      : arcs_(arcs), by_target_(nodes, arcs), budget_(budget), nodes_(nodes) {
    result_.redundant.resize(arcs.size());
    for (const Arc& arc : arcs) {
      nodes_[arc.from].last_successor = std::max(nodes_[arc.from].last_successor, arc.to);
    }
  }

  Reduction run() {
    Index v = 0;
    for (; v < nodes_.size(); ++v) {
      if (result_.steps > budget_.steps || entries_ > budget_.entries) break;
      examine(v);
    }
    result_.examined = v;
    return std::move(result_);
  }

 private:
  struct Node {
    Index last_successor = 0;
    Index chain = none;
    Index next_on_chain = none;
    Index row = none;
  };
  struct Chain {
    Index oldest = none;  ///< of the nodes with successors to come; none: the chain is free
    Index newest = none;
  };
  struct Entry {
    Index chain;
    Index end;  ///< the nodes of the chain below it are reached
  };
  using Row = std::vector<Entry>;

  void examine(Index v) {
    for (const Index arc : by_target_.to(v)) {
      const Node& from = nodes_[arcs_[arc].from];
      if (reached_[from.chain] > arcs_[arc].from) result_.redundant[arc] = true;
      else merge(rows_[from.row]);
    }
    const bool has_successors = nodes_[v].last_successor > v;
    if (has_successors) put_on_chain(v);
    for (const Index arc : by_target_.to(v)) release(arcs_[arc].from, v);
    if (has_successors) store_row(v);
    for (const Index chain : touched_) reached_[chain] = 0;
    touched_.clear();
  }

  void merge(const Row& row) {
    result_.steps += row.size();
    for (const Entry& entry : row) {
      Index& end = reached_[entry.chain];
      if (end == 0) touched_.push_back(entry.chain);
      end = std::max(end, entry.end);
    }
  }

  void put_on_chain(Index v) {
    const auto ends_here = [&](Index c) { return chains_[c].newest == reached_[c] - 1; };
    const auto found = std::find_if(touched_.begin(), touched_.end(), ends_here);
    const Index c = found != touched_.end() ? *found : free_chain();
    if (chains_[c].newest == none) chains_[c].oldest = v;
    else nodes_[chains_[c].newest].next_on_chain = v;
    chains_[c].newest = v;
    nodes_[v].chain = c;
  }

  Index free_chain() {
    if (free_chains_.empty()) {
      free_chains_.push_back(Index(chains_.size()));
      chains_.emplace_back();
      reached_.push_back(0);
    }
    const Index c = free_chains_.back();
    free_chains_.pop_back();
    return c;
  }

  /// Forgets node u if v is its last successor, and its chain if u was the last on it to have any.
  void release(Index u, Index v) {
    Node& node = nodes_[u];
    if (node.last_successor != v || node.row == none) return;
    free_rows_.push_back(node.row);
    node.row = none;
    Chain& chain = chains_[node.chain];
    while (chain.oldest != none && nodes_[chain.oldest].last_successor <= v) {
      chain.oldest = nodes_[chain.oldest].next_on_chain;
    }
    if (chain.oldest == none && chain.newest != none) {
      chain.newest = none;
      free_chains_.push_back(node.chain);
    }
  }

  /// The own chain comes first, so that a successor rather continues it.
  void store_row(Index v) {
    if (free_rows_.empty()) {
      free_rows_.push_back(Index(rows_.size()));
      rows_.emplace_back();
    }
    Node& node = nodes_[v];
    node.row = free_rows_.back();
    free_rows_.pop_back();
    Row& row = rows_[node.row];
    const std::size_t capacity = row.capacity();
    row.clear();
    row.push_back({node.chain, v + 1});
    for (const Index c : touched_) {
      // Also false for what an earlier user of the chain's number left behind: it is below the oldest.
      const bool wanted = chains_[c].oldest != none && reached_[c] > chains_[c].oldest;
      if (c != node.chain && wanted) row.push_back({c, reached_[c]});
    }
    entries_ += row.capacity() - capacity;
  }

  const std::span<const Arc> arcs_;
  const ArcsByTarget by_target_;
  const ReductionBudget budget_;
  Reduction result_;
  std::vector<Node> nodes_;
  std::vector<Chain> chains_;
  std::vector<Index> free_chains_;
  std::vector<Row> rows_;
  std::vector<Index> free_rows_;
  std::size_t entries_ = 0;  ///< that there is memory for
  // While a node is examined: the union of its predecessors' rows.
  std::vector<Index> reached_;  ///< per chain, as Entry::end; 0: nothing
  std::vector<Index> touched_;  ///< the chains where it is not 0
};

}  // namespace

Reduction reduce(std::uint32_t nodes, std::span<const Arc> arcs, const ReductionBudget& budget) {
  return Reducer(nodes, arcs, budget).run();
}

}  // namespace refrain::trace
