// The judge accepts a log that was made from the naive analysis itself, and finds every damage done to it.

#include "support/judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "machine/machine.hpp"
#include "support/generate.hpp"
#include "support/interpreter.hpp"
#include "support/random.hpp"

namespace refrain::test {
namespace {

/// A log as the real analysis would write it, one operation per naive operation.
struct Forged {
  std::vector<analysis::LoggedOperation> operations;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;

  Forged(const Program& program, const NaiveGraph& naive) {
    for (std::size_t i = 0; i < naive.operations.size(); ++i) {
      const NaiveOperation& o = naive.operations[i];
      analysis::LoggedOperation l;
      l.seq = 10 + 3 * i;
      l.kind = o.kind;
      l.call = o.call;
      l.rank = o.rank;
      l.argument = o.argument;
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
      edges.emplace_back(operations[static_cast<std::size_t>(e.from)].seq,
                         operations[static_cast<std::size_t>(e.to)].seq);
  }
  void play(GraphRecorder& recorder) const {
    for (const auto& o : operations) {
      recorder.operation(o);
      for (const auto& [from, to] : edges)
        if (to == o.seq) recorder.edge(0, from, to);
    }
  }
};

/// Does anything lead from `from` to `to` besides the edges joining the two directly?
bool joined_otherwise(const Forged& log, std::uint64_t from, std::uint64_t to) {
  std::set<std::uint64_t> reached{from};
  for (const auto& o : log.operations)
    for (const auto& [a, b] : log.edges)
      if (b == o.seq && reached.contains(a) && !(a == from && b == to)) reached.insert(b);
  return reached.contains(to);
}

class JudgeTest : public testing::Test {
 protected:
  void start(std::uint64_t seed) {
    program_ = resolve(generate(seed));
    const MappingRule rule(machine_, MappingRule::Style::spread, seed);
    naive_ = NaiveAnalysis(program_, rule).analyse();
  }
  std::string judged(const Forged& log) {
    GraphRecorder recorder;
    log.play(recorder);
    return judge(program_, naive_, recorder.log_of(nullptr));
  }
  Machine machine_ = machine::load("emulated:cpus=4,gpus=2");
  Program program_;
  NaiveGraph naive_;
};

TEST_F(JudgeTest, AcceptsTheDefinitionItself) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    start(seed);
    EXPECT_EQ(judged(Forged(program_, naive_)), "") << "seed " << seed;
  }
}

TEST_F(JudgeTest, FindsAMissingEdge) {
  int damaged = 0;
  for (std::uint64_t seed = 1; damaged < 40; ++seed) {
    start(seed);
    Forged log(program_, naive_);
    if (log.edges.empty()) continue;
    const auto [from, to] = log.edges[mix(seed) % log.edges.size()];
    if (joined_otherwise(log, from, to)) continue;
    std::erase(log.edges, std::pair(from, to));
    EXPECT_NE(judged(log).find("missing order"), std::string::npos) << "seed " << seed;
    ++damaged;
  }
}

TEST_F(JudgeTest, FindsASpuriousEdge) {
  int damaged = 0;
  for (std::uint64_t seed = 1; damaged < 40; ++seed) {
    start(seed);
    Forged log(program_, naive_);
    const std::size_t n = log.operations.size();
    const std::size_t a = mix(seed, 1) % n, b = mix(seed, 2) % n;
    const std::uint64_t from = log.operations[a].seq, to = log.operations[b].seq;
    if (a >= b || joined_otherwise(log, from, to)) continue;
    if (std::find(log.edges.begin(), log.edges.end(), std::pair(from, to)) != log.edges.end())
      continue;
    log.edges.emplace_back(from, to);
    EXPECT_NE(judged(log).find("spurious edge"), std::string::npos) << "seed " << seed;
    ++damaged;
  }
}

TEST_F(JudgeTest, FindsLackingAndSuperfluousOperations) {
  start(7);
  Forged log(program_, naive_);
  Forged doubled = log;
  analysis::LoggedOperation again = doubled.operations.back();
  again.seq += 1;
  again.call += 1;
  doubled.operations.push_back(again);
  EXPECT_NE(judged(doubled).find("superfluous"), std::string::npos);
  const std::uint64_t gone = log.operations.back().seq;
  log.operations.pop_back();
  std::erase_if(log.edges, [&](const auto& e) { return e.first == gone || e.second == gone; });
  EXPECT_NE(judged(log).find("lacking"), std::string::npos);
}

}  // namespace
}  // namespace refrain::test
