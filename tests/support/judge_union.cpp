#include "support/judge_union.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "support/naive_traffic.hpp"
#include "support/order.hpp"
#include "support/sequential_order.hpp"

namespace refrain::test {

namespace {

using exec::NodeKind;

/// What an operation uses of a field.
struct Used {
  int tree, field;
  Mask points;
};

/// A piece of a logged operation.
struct Piece {
  const NaiveOperation* is;
  int shard;
  int logged;  ///< among all shards' operations
  int call;    ///< the operation of the sequential program that it is (a part of), or -1
  std::vector<Used> uses;
};

bool share(const Piece& a, const Piece& b) {
  for (const Piece* take : {&a, &b}) {
    const Piece& other = take == &a ? b : a;
    if (take->is->role == Role::take)
      return other.is->part == take->is->part && other.is->argument == take->is->argument;
  }
  for (const Used& one : a.uses)
    for (const Used& two : b.uses)
      if (one.tree == two.tree && one.field == two.field && (one.points & two.points) != 0)
        return true;
  return false;
}

class Union {
 public:
  Union(const Program& program, const std::vector<NaiveGraph>& shares,
        const std::vector<const ContextLog*>& logged)
      : program_(program), shares_(shares), logged_(logged), sequential_(program) {}

  std::string judge(UnionCounts& counts);

 private:
  using Edges = std::vector<std::pair<int, int>>;

  std::string collect();
  void add_edges(std::size_t shard, std::size_t base);
  std::string add_messages();
  [[nodiscard]] std::vector<Used> uses_of(const NaiveOperation& o) const;
  /// Which calls come before each node; none if the graph has a cycle. `node_of`: of a piece.
  [[nodiscard]] std::optional<Order> close(const std::vector<int>& node_of,
                                           std::size_t nodes) const;
  std::string judge_order(UnionCounts& counts) const;
  std::string judge_flows(UnionCounts& counts) const;
  std::string judge_joined(UnionCounts& counts) const;
  [[nodiscard]] std::string describe(int piece) const;
  /// Pieces by the call that they are parts of.
  [[nodiscard]] std::vector<int> parts(int call, int point) const;
  /// Does a path lead from the maker of a value to its reader, by nothing but uses of that point?
  [[nodiscard]] bool carried(int maker, int reader, const SequentialOrder::Flow& flow) const;

  const Program& program_;
  const std::vector<NaiveGraph>& shares_;
  const std::vector<const ContextLog*>& logged_;
  const SequentialOrder sequential_;
  std::vector<Piece> pieces_;
  std::vector<std::vector<int>> pieces_of_;  ///< of each logged operation
  std::vector<int> calls_;                   ///< the pieces that are calls: the columns of an order
  std::vector<int> column_;                  ///< of a piece, or -1
  std::map<int, std::vector<int>> by_call_;
  Edges edges_;
  std::vector<std::vector<int>> before_;  ///< the same, by their ends
  Order split_;
};

std::vector<Used> Union::uses_of(const NaiveOperation& o) const {
  std::vector<Used> uses;
  if (o.kind == NodeKind::task) {
    for (const ResolvedArgument& a : o.statement->points[o.part].arguments)
      if (a.privilege != Privilege::reduce) uses.push_back({a.tree, a.field, a.points});
    return uses;
  }
  if (o.tree < 0) return uses;
  uses.push_back({o.tree, o.field, o.points});
  if (o.kind != NodeKind::copy || o.role != Role::call) return uses;
  const ResolvedArgument& source = o.statement->source;
  const Shape &from = program_.shape(source.tree), &to = program_.shape(o.tree);
  Mask points = 0;
  for (int i = 0; i < max_points; ++i)
    if (has(o.points, i)) points |= Mask{1} << from.find(to.points[static_cast<std::size_t>(i)]);
  uses.push_back({source.tree, source.field, points});
  return uses;
}

std::string Union::collect() {
  std::size_t base = 0;
  for (std::size_t shard = 0; shard < shares_.size(); ++shard) {
    std::vector<int> to;
    std::string text = match(program_, shares_[shard], *logged_[shard], to);
    if (!text.empty()) return text;
    pieces_of_.resize(pieces_of_.size() + logged_[shard]->operations.size());
    for (std::size_t i = 0; i < to.size(); ++i) {
      const NaiveOperation& o = shares_[shard].operations[i];
      const int number = static_cast<int>(pieces_.size()), logged = static_cast<int>(base) + to[i];
      const int call = sequential_.find(o);
      if (o.role == Role::call && call < 0) text += "no call of the program\n";
      pieces_.push_back({&o, static_cast<int>(shard), logged, call, uses_of(o)});
      pieces_of_[static_cast<std::size_t>(logged)].push_back(number);
      column_.push_back(call < 0 ? -1 : static_cast<int>(calls_.size()));
      if (call < 0) continue;
      calls_.push_back(number);
      by_call_[call].push_back(number);
    }
    if (!text.empty()) return text;
    add_edges(shard, base);
    base = pieces_of_.size();
  }
  return add_messages();
}

/// An edge is about what both ends use; if nothing, about all.
void Union::add_edges(std::size_t shard, std::size_t base) {
  for (const ContextLog::Edge& edge : logged_[shard]->edges) {
    const std::vector<int>& from = pieces_of_[base + static_cast<std::size_t>(edge.from)];
    const std::vector<int>& to = pieces_of_[base + static_cast<std::size_t>(edge.to)];
    const std::size_t before = edges_.size();
    for (const bool all : {false, true}) {
      if (edges_.size() != before) break;
      for (const int a : from)
        for (const int b : to)
          if (all ||
              share(pieces_[static_cast<std::size_t>(a)], pieces_[static_cast<std::size_t>(b)]))
            edges_.emplace_back(a, b);
    }
  }
}

std::string Union::add_messages() {
  // Ends are alike in: sender, receiver, call, argument, and what the piece is. Messages of futures are counted.
  using End = std::tuple<int, int, int, std::uint64_t, int, int, int, std::uint64_t>;
  std::map<End, int> sent, received;
  std::map<std::pair<int, int>, std::uint64_t> futures_sent, futures_received;
  const int shards = static_cast<int>(shares_.size());
  const auto others = [shards](int me) {
    std::vector<int> all;
    for (int peer = 0; peer < shards; ++peer)
      if (peer != me) all.push_back(peer);
    return all;
  };
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const NaiveOperation& o = *pieces_[i].is;
    const int me = pieces_[i].shard, number = static_cast<int>(i);
    switch (o.role) {
      case Role::send:
        sent[{0, me, o.peer, o.call, o.argument, o.tree, o.field, o.points}] = number;
        break;
      case Role::receive:
        received[{0, o.peer, me, o.call, o.argument, o.tree, o.field, o.points}] = number;
        break;
      case Role::give: sent[{1, me, o.peer, o.call, o.argument, -1, -1, o.part}] = number; break;
      case Role::take:
        received[{1, o.peer, me, o.call, o.argument, -1, -1, o.part}] = number;
        break;
      case Role::send_future:
        for (const int peer : o.peer < 0 ? others(me) : passed_on(me, o.peer, shards))
          sent[{2, me, peer, 0, 0, -1, -1, futures_sent[{me, peer}]++}] = number;
        break;
      case Role::send_result:
        sent[{2, me, o.peer, 0, 0, -1, -1, futures_sent[{me, o.peer}]++}] = number;
        break;
      case Role::receive_future:
        received[{2, o.peer, me, 0, 0, -1, -1, futures_received[{o.peer, me}]++}] = number;
        break;
      default: break;
    }
  }
  std::string text;
  for (const auto& [end, piece] : sent) {
    const auto found = received.find(end);
    if (found == received.end()) text += "sent to nobody: " + describe(piece);
    else edges_.emplace_back(piece, found->second);
  }
  for (const auto& [end, piece] : received)
    if (!sent.contains(end)) text += "received from nobody: " + describe(piece);
  return text;
}

std::optional<Order> Union::close(const std::vector<int>& node_of, std::size_t nodes) const {
  std::vector<std::vector<int>> after(nodes);
  std::vector<int> left(nodes, 0);
  for (const auto& [from, to] : edges_) {
    const int a = node_of[static_cast<std::size_t>(from)];
    const int b = node_of[static_cast<std::size_t>(to)];
    after[static_cast<std::size_t>(a)].push_back(b);
    ++left[static_cast<std::size_t>(b)];
  }
  std::vector<std::vector<int>> own(nodes);
  for (const int piece : calls_)
    own[static_cast<std::size_t>(node_of[static_cast<std::size_t>(piece)])].push_back(
        column_[static_cast<std::size_t>(piece)]);
  std::vector<int> ready;
  for (std::size_t i = 0; i < nodes; ++i)
    if (left[i] == 0) ready.push_back(static_cast<int>(i));
  Order order(nodes, calls_.size());
  std::size_t done = 0;
  for (; done < ready.size(); ++done) {
    const int node = ready[done];
    for (const int next : after[static_cast<std::size_t>(node)]) {
      order.inherit(node, next);
      for (const int column : own[static_cast<std::size_t>(node)]) order.add(column, next);
      if (--left[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
    }
  }
  if (done != nodes) return std::nullopt;
  return order;
}

std::string Union::describe(int piece) const {
  const Piece& is = pieces_[static_cast<std::size_t>(piece)];
  std::size_t base = 0;
  for (int shard = 0; shard < is.shard; ++shard)
    base += logged_[static_cast<std::size_t>(shard)]->operations.size();
  const std::size_t number = static_cast<std::size_t>(is.logged) - base;
  std::string text = fmt::format(
      "shard {}: {}\n", is.shard,
      refrain::test::describe(logged_[static_cast<std::size_t>(is.shard)]->operations[number]));
  if (is.call >= 0) text += "       " + sequential_.describe(is.call);
  return text;
}

std::string Union::judge_order(UnionCounts& counts) const {
  for (const int to : calls_)
    for (std::size_t column = 0; column < calls_.size(); ++column) {
      if (!split_.has(static_cast<int>(column), to)) continue;
      const int from = calls_[column];
      const Piece &a = pieces_[static_cast<std::size_t>(from)],
                  &b = pieces_[static_cast<std::size_t>(to)];
      ++counts.ordered;
      if (a.shard != b.shard) ++counts.across;
      if (!sequential_.ordered(a.call, b.call))
        return "ordered, but not by the program: from " + describe(from) + "  to " + describe(to);
    }
  return {};
}

std::vector<int> Union::parts(int call, int point) const {
  std::vector<int> parts;
  const auto found = by_call_.find(call);
  if (found == by_call_.end()) return parts;
  for (const int piece : found->second) {
    const NaiveOperation& o = *pieces_[static_cast<std::size_t>(piece)].is;
    const bool in_parts = o.kind == NodeKind::fold || o.kind == NodeKind::copy;
    if (!in_parts || point < 0 || has(o.points, point)) parts.push_back(piece);
  }
  return parts;
}

bool Union::carried(int maker, int reader, const SequentialOrder::Flow& flow) const {
  // Also by other uses of the value: a write that comes after its readers comes after its maker.
  const auto passes = [&](int number) {
    const Piece& piece = pieces_[static_cast<std::size_t>(number)];
    if (piece.uses.empty()) return piece.call < 0;
    return std::ranges::any_of(piece.uses, [&](const Used& used) {
      return used.tree == flow.tree && used.field == flow.field && has(used.points, flow.point);
    });
  };
  std::set<int> seen{reader};
  std::vector<int> next{reader};
  while (!next.empty()) {
    const int at = next.back();
    next.pop_back();
    for (const int before : before_[static_cast<std::size_t>(at)]) {
      if (before == maker) return true;
      if (passes(before) && seen.insert(before).second) next.push_back(before);
    }
  }
  return false;
}

/// What every shard makes, each reads of its own.
std::string Union::judge_flows(UnionCounts& counts) const {
  for (const SequentialOrder::Flow& flow : sequential_.flows()) {
    const std::vector<int> makers = parts(flow.from, flow.point);
    const std::vector<int> readers = parts(flow.to, flow.to_point);
    if (makers.empty() || readers.empty())
      return "no shard has a part in: " +
             sequential_.describe(makers.empty() ? flow.from : flow.to);
    for (const int reader : readers) {
      ++counts.flows;
      const int shard = pieces_[static_cast<std::size_t>(reader)].shard;
      const auto here = std::ranges::find_if(makers, [&](int maker) {
        return pieces_[static_cast<std::size_t>(maker)].shard == shard;
      });
      const int maker = here != makers.end() ? *here : makers[0];
      if (makers.size() > 1 && here == makers.end())
        return "several shards make what another reads: " + describe(maker);
      if (!carried(maker, reader, flow))
        return fmt::format("no path of a flow dependence (point {}): from ", flow.point) +
               describe(maker) + "  to " + describe(reader);
    }
  }
  return {};
}

std::string Union::judge_joined(UnionCounts& counts) const {
  std::vector<int> whole(pieces_.size()), joined(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    whole[i] = piece.logged;
    const bool moves = piece.is->role == Role::move;
    joined[i] = moves ? static_cast<int>(pieces_of_.size() + i) : piece.logged;
  }
  const std::optional<Order> all = close(whole, pieces_of_.size());
  if (!all) return "what the shards wait for is a circle\n";
  std::size_t more = 0;
  const auto each_pair = [&](auto act) {
    for (const int to : calls_)
      for (std::size_t column = 0; column < calls_.size(); ++column)
        if (all->has(static_cast<int>(column), pieces_[static_cast<std::size_t>(to)].logged) &&
            !split_.has(static_cast<int>(column), to))
          act(static_cast<int>(column), to);
  };
  each_pair([&](int, int) { ++more; });
  counts.joined += more;
  if (more == 0) return {};
  const std::optional<Order> messages = close(joined, pieces_of_.size() + pieces_.size());
  if (!messages) return "what the shards wait for is a circle\n";
  std::string text;
  each_pair([&](int column, int to) {
    if (text.empty() && !messages->has(column, pieces_[static_cast<std::size_t>(to)].logged))
      text = "ordered, though no message joins them: from " +
             describe(calls_[static_cast<std::size_t>(column)]) + "  to " + describe(to);
  });
  return text;
}

std::string Union::judge(UnionCounts& counts) {
  std::string text = collect();
  if (!text.empty()) return text;
  std::vector<int> each(pieces_.size());
  std::iota(each.begin(), each.end(), 0);
  const std::optional<Order> split = close(each, pieces_.size());
  before_.resize(pieces_.size());
  for (const auto& [from, to] : edges_) before_[static_cast<std::size_t>(to)].push_back(from);
  if (!split) return "what the shards wait for is a circle\n";
  split_ = *split;
  return judge_order(counts) + judge_flows(counts) + judge_joined(counts);
}

}  // namespace

std::string judge_union(const Program& program, const std::vector<NaiveGraph>& shares,
                        const std::vector<const ContextLog*>& logged, UnionCounts& counts) {
  return Union(program, shares, logged).judge(counts);
}

}  // namespace refrain::test
