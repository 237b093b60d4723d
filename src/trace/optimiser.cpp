#include "trace/optimiser.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <span>
#include <utility>

namespace refrain::trace {

void sort_by_target(std::vector<RecordedEdge>& edges) {
  if (!std::ranges::is_sorted(edges, {}, &RecordedEdge::to))
    std::ranges::stable_sort(edges, {}, &RecordedEdge::to);
}

namespace {

/// Takes the edges to an operation off the front of those that are left.
std::span<RecordedEdge> take(std::span<RecordedEdge>& left, std::uint32_t to) {
  const auto end = std::ranges::find_if(left, [to](const auto& edge) { return edge.to != to; });
  const auto taken = left.first(static_cast<std::size_t>(end - left.begin()));
  left = left.subspan(taken.size());
  return taken;
}

/// Goes through the operations upwards, and through the predecessors of each from the latest down. An edge is implied
/// exactly if those before it reach its source; otherwise it stays.
///
/// Of a few operations each has a row, a bit for each operation that reaches it; to join a predecessor is to join its
/// row. The rows of many would be long. Edges lead upwards, so every path lies between its ends. A sweep downwards from
/// an operation's latest predecessor therefore meets each operation after all those by which it may reach the present
/// one. The sweep skips operations that do not, 64 at a time, and ends at the earliest predecessor.
class Reduction {
 public:
  Reduction(std::size_t operations, std::uint64_t most_steps, OptimisedEdges& result)
      : blocks_(operations / kBits + 1),
        in_rows_(operations <= kFew),
        first_edge_(operations + 1),
        reached_(in_rows_ ? operations * blocks_ : blocks_),
        most_steps_(most_steps),
        result_(result) {}

  /// The next operation. Of the edges to it, `given` are examined; `fixed` are edges that stay, from operations that are
  /// all later, by so many numbers as `shift`. Appends those of the given edges that stay to `kept`.
  void add(std::span<const RecordedEdge> fixed, std::uint32_t shift, std::span<RecordedEdge> given,
           std::vector<RecordedEdge>& kept) {
    // From the latest operations first.
    std::ranges::sort(given, std::greater<>(), &RecordedEdge::from);
    const auto before = static_cast<std::ptrdiff_t>(kept.size());
    if (result_.steps > most_steps_) {
      result_.unexamined += given.size();
      kept.insert(kept.end(), given.begin(), given.end());
    } else {
      row_ = &reached_[in_rows_ ? to_ * blocks_ : 0];
      earliest_ = in_rows_ ? 0 : given.empty() ? ~std::uint32_t{0} : given.back().from;
      swept_ = 0;
      for (const RecordedEdge& edge : fixed) join(edge.from + shift);
      for (const RecordedEdge& edge : given) {
        if (is_reached_from(edge.from)) continue;
        join(edge.from);
        kept.push_back(edge);
      }
      if (!in_rows_ && !given.empty()) row_[earliest_ / kBits] = 0;
    }
    std::reverse(kept.begin() + before, kept.end());
    first_edge_[++to_] = edges_.size();
  }

 private:
  static constexpr std::uint32_t kBits = 64, kFew = 2048;

  bool is_reached_from(std::uint32_t from) {
    if (!in_rows_ && swept_ > from) sweep_to(from);
    return (row_[from / kBits] >> from % kBits & 1) != 0;
  }
  void join(std::uint32_t from) {
    mark(from);
    if (!in_rows_) {
      edges_.push_back(from);
      swept_ = std::max(swept_, from);
      return;
    }
    for (std::size_t at = 0; at <= from / kBits; ++at, ++result_.steps)
      row_[at] |= reached_[from * blocks_ + at];
  }
  void mark(std::uint32_t from) {
    if (from >= earliest_) row_[from / kBits] |= std::uint64_t{1} << from % kBits;
  }
  /// Goes on down to the operation above `from`. The marks that have been passed are taken away.
  void sweep_to(std::uint32_t from) {
    for (std::uint32_t at = swept_ / kBits;; --at) {
      std::uint64_t& block = row_[at];
      const std::uint64_t above = at == from / kBits ? ~std::uint64_t{1} << from % kBits : ~0ull;
      while (const std::uint64_t left = block & above) {
        const auto bit = static_cast<std::uint32_t>(std::bit_width(left) - 1);
        block &= ~(std::uint64_t{1} << bit);
        const std::size_t operation = at * kBits + bit;
        for (std::size_t i = first_edge_[operation]; i < first_edge_[operation + 1];
             ++i, ++result_.steps)
          mark(edges_[i]);
      }
      ++result_.steps;
      if (at == from / kBits) break;
    }
    swept_ = from;
  }

  const std::size_t blocks_;  ///< of 64 operations
  const bool in_rows_;
  std::vector<std::uint32_t> edges_;     ///< that stay, by target: where from
  std::vector<std::size_t> first_edge_;  ///< of each target
  /// By operation, if in rows, and block: a bit for each of 64 operations, whether it reaches the one of the row.
  std::vector<std::uint64_t> reached_;
  std::size_t to_ = 0;                      ///< the present operation
  std::uint64_t* row_ = nullptr;            ///< its row
  std::uint32_t earliest_ = 0, swept_ = 0;  ///< predecessor; the operations above have been swept
  const std::uint64_t most_steps_;
  OptimisedEdges& result_;
};

}  // namespace

OptimisedEdges optimise(std::uint32_t operations, RecordedEdges edges,
                        std::uint64_t steps_per_operation) {
  sort_by_target(edges.inner);
  sort_by_target(edges.carried);
  // One replay and, where edges are carried, the part of the next that they can lead to.
  const std::uint32_t next = edges.carried.empty() ? 0 : edges.carried.back().to + 1;
  OptimisedEdges result;
  Reduction reduction(std::size_t{operations} + next, steps_per_operation * operations, result);
  result.edges.inner.reserve(edges.inner.size());
  result.edges.carried.reserve(edges.carried.size());
  std::span<RecordedEdge> left(edges.inner);
  for (std::uint32_t to = 0; to < operations; ++to)
    reduction.add({}, 0, take(left, to), result.edges.inner);
  std::span<RecordedEdge> inner(result.edges.inner);
  left = edges.carried;
  for (std::uint32_t to = 0; to < next; ++to)
    reduction.add(take(inner, to), operations, take(left, to), result.edges.carried);
  return result;
}

}  // namespace refrain::trace
