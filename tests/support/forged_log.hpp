#pragma once
// A log as the real analysis would write it, made from a naive graph: one operation per naive operation; but a message of
// contributions is taken by one.

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "support/judge.hpp"

namespace refrain::test {

struct Forged {
  std::vector<analysis::LoggedOperation> operations;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;

  Forged(const Program& program, const NaiveGraph& naive) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < naive.operations.size(); ++i) {
      const NaiveOperation& o = naive.operations[i];
      if (i > 0 && o.role == Role::take && same_message(o, naive.operations[i - 1])) {
        numbers.push_back(numbers.back());
        continue;
      }
      numbers.push_back(10 + 3 * i);
      analysis::LoggedOperation l;
      l.seq = numbers.back();
      l.kind = o.kind;
      l.call = o.call;
      l.rank = o.rank;
      l.argument = o.argument;
      l.info = info_of(o.role);
      if (o.field >= 0) {
        l.field = field_of(ValueKind::f64, o.field).name;
        l.source = o.source;
        l.target = o.target;
        const Shape& shape = program.shape(o.tree);
        std::vector<data::BoxPoint> points;
        for (std::size_t p = 0; p < shape.points.size(); ++p)
          if (has(o.points, static_cast<int>(p))) points.push_back(shape.points[p]);
        l.points = data::IndexSpace::from_points(shape.dim, points);
      }
      operations.push_back(l);
    }
    for (const NaiveEdge& e : naive.edges)
      edges.emplace_back(numbers[static_cast<std::size_t>(e.from)],
                         numbers[static_cast<std::size_t>(e.to)]);
  }
  void play(GraphRecorder& recorder) const {
    for (const auto& o : operations) {
      recorder.operation(o);
      for (const auto& [from, to] : edges)
        if (to == o.seq) recorder.edge(0, from, to);
    }
  }
  /// Does anything lead from `from` to `to` besides the edges joining the two directly?
  [[nodiscard]] bool joined_otherwise(std::uint64_t from, std::uint64_t to) const {
    std::set<std::uint64_t> reached{from};
    for (const auto& o : operations)
      for (const auto& [a, b] : edges)
        if (b == o.seq && reached.contains(a) && !(a == from && b == to)) reached.insert(b);
    return reached.contains(to);
  }

 private:
  static bool same_message(const NaiveOperation& a, const NaiveOperation& b) {
    return a.role == b.role && a.call == b.call && a.argument == b.argument && a.peer == b.peer;
  }
  static const exec::NodeInfo* info_of(Role role) {
    static const exec::NodeInfo send{"send", {}}, receive{"receive", {}};
    switch (role) {
      case Role::send:
      case Role::give: return &send;
      case Role::receive:
      case Role::take: return &receive;
      default: return nullptr;
    }
  }
};

}  // namespace refrain::test
