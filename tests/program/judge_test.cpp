// The judges accept logs that were made from the naive analysis itself, and find every damage done to them.

#include "support/judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "machine/machine.hpp"
#include "support/forged_log.hpp"
#include "support/generate.hpp"
#include "support/interpreter.hpp"
#include "support/judge_union.hpp"
#include "support/naive_traffic.hpp"
#include "support/random.hpp"
#include "support/some_sharding.hpp"

namespace refrain::test::judge_test {
namespace {

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
    if (log.joined_otherwise(from, to)) continue;
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
    if (a >= b || log.joined_otherwise(from, to)) continue;
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

/// Of several shards, whose logs have an operation for each point that a message of values has.
class JudgeUnion : public testing::Test {
 protected:
  void start(std::uint64_t seed, bool reductions = true) {
    GenerateOptions options = options_for(seed);
    options.reductions = options.reductions && reductions;
    program_ = resolve(generate(seed, options));
    const int count = 2 + static_cast<int>(mix(seed, 5) % 3);
    NaiveTraffic traffic(program_, count,
                         [seed](const std::string& task, const data::IndexSpaceRef& domain) {
                           return some_sharding(task, domain, seed);
                         });
    (void)traffic.messages();
    const MappingRule rule(machine_, MappingRule::Style::spread, seed);
    shares_.clear();
    logs_.clear();
    for (int shard = 0; shard < count; ++shard) {
      shares_.push_back(NaiveAnalysis(program_, rule).analyse_share(traffic.steps(), shard));
      logs_.emplace_back(program_, shares_.back());
    }
  }
  std::string judged() {
    std::vector<GraphRecorder> recorders(logs_.size());
    std::vector<const ContextLog*> programs;
    for (std::size_t shard = 0; shard < logs_.size(); ++shard) {
      logs_[shard].play(recorders[shard]);
      programs.push_back(&recorders[shard].log_of(nullptr));
    }
    return judge_union(program_, shares_, programs, counts_);
  }
  /// Which operation of a shard, by its number in the log.
  const NaiveOperation& operation(std::size_t shard, std::uint64_t seq) {
    return shares_[shard].operations[(seq - 10) / 3];
  }
  Machine machine_ = machine::load("emulated:cpus=4,gpus=2");
  Program program_;
  std::vector<NaiveGraph> shares_;
  std::vector<Forged> logs_;
  UnionCounts counts_;
};

TEST_F(JudgeUnion, AcceptsTheDefinitionItself) {
  for (const bool reductions : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      start(seed, reductions);
      EXPECT_EQ(judged(), "") << "seed " << seed;
    }
    EXPECT_GT(counts_.across, 100u);
    if (!reductions) { EXPECT_EQ(counts_.joined, 0u); }
  }
}

/// A reader that does not wait for the message with its value.
TEST_F(JudgeUnion, FindsALostFlow) {
  int damaged = 0;
  for (std::uint64_t seed = 1; damaged < 40; ++seed) {
    start(seed);
    const std::size_t shard = mix(seed, 1) % logs_.size();
    auto& edges = logs_[shard].edges;
    const auto lost = std::ranges::find_if(edges, [&](const auto& edge) {
      const NaiveOperation& to = operation(shard, edge.second);
      return operation(shard, edge.first).role == Role::receive &&
             to.kind == exec::NodeKind::access;
    });
    if (lost == edges.end()) continue;
    const auto [from, to] = *lost;
    std::erase(edges, std::pair(from, to));
    const std::string wrong = judged();
    // What comes after a write by the program itself reads nothing.
    const bool reads = operation(shard, to).statement->target.privilege != Privilege::write;
    if (reads) {
      EXPECT_NE(wrong.find("no path of a flow dependence"), std::string::npos)
          << "seed " << seed << "\n"
          << wrong;
      ++damaged;
    }
  }
}

TEST_F(JudgeUnion, FindsASpuriousOrder) {
  int found = 0, tried = 0;
  for (std::uint64_t seed = 1; tried < 100; ++seed) {
    start(seed);
    const std::size_t shard = mix(seed, 1) % logs_.size();
    Forged& log = logs_[shard];
    const std::size_t n = log.operations.size();
    if (n == 0) continue;
    const std::size_t a = mix(seed, 2) % n, b = mix(seed, 3) % n;
    const std::uint64_t from = log.operations[a].seq, to = log.operations[b].seq;
    if (a >= b || log.joined_otherwise(from, to) ||
        std::ranges::count(log.edges, std::pair(from, to)) != 0)
      continue;
    log.edges.emplace_back(from, to);
    if (judged().find("ordered, but not by the program") != std::string::npos) ++found;
    ++tried;
  }
  // The others order what the program orders through another shard, or nothing that it has made.
  EXPECT_GT(found, 20);
}

TEST_F(JudgeUnion, FindsAMessageWithoutItsOtherEnd) {
  int damaged = 0;
  for (std::uint64_t seed = 1; damaged < 10; ++seed) {
    start(seed);
    for (std::size_t shard = 0; shard < shares_.size(); ++shard) {
      auto& operations = shares_[shard].operations;
      const auto send = std::ranges::find(operations, Role::send, &NaiveOperation::role);
      if (send == operations.end()) continue;
      send->peer = static_cast<int>(shard);
      EXPECT_NE(judged().find("sent to nobody"), std::string::npos) << "seed " << seed;
      ++damaged;
      break;
    }
  }
}

}  // namespace
}  // namespace refrain::test::judge_test
