// Programs on several shards in one process: each runs whole on every shard, messages are late and overtake each other as
// a seed decides, and every shard observes what the sequential interpreter says. The messages are those of a model with
// owners and holders point by point: none is missing, none is spurious. The graph of each shard is that of the naive
// analysis, and all graphs together order what they have to, and no more (judge_union.hpp).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "data/index_space.hpp"
#include "machine/machine.hpp"
#include "net/in_process.hpp"
#include "refrain/refrain.hpp"
#include "replication/wire.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/generate.hpp"
#include "support/judge.hpp"
#include "support/judge_union.hpp"
#include "support/mapping_rule.hpp"
#include "support/naive_analysis.hpp"
#include "support/naive_traffic.hpp"
#include "support/random.hpp"
#include "support/runner.hpp"
#include "support/shards.hpp"
#include "support/some_sharding.hpp"
#include "support/test_budget.hpp"

namespace refrain::test::on_shards_test {
namespace {

/// With failures messages have more bytes, which nobody compares.
NaiveMessages without_bytes(NaiveMessages messages) {
  for (auto& [pair, all] : messages)
    for (NaiveMessage& message : all) message.bytes = 0;
  return messages;
}

bool has_failures(const Program& program) {
  return std::ranges::any_of(program.statements, [](const Resolved& r) {
    return std::ranges::any_of(r.points, [](const PointTask& task) {
      return task.throws != PointTask::Throws::no || !task.children.empty();
    });
  });
}

/// Empty, or what is wrong with the graph of a shard, or with all of them together.
std::string judge_shards(const Program& program, std::uint64_t seed,
                         const std::vector<NaiveStep>& steps,
                         const std::vector<GraphRecorder>& logs, UnionCounts& counts) {
  const Machine machine = machine::load(kShardsMachine);
  const MappingRule rule(machine, MappingRule::Style::spread, seed);
  std::vector<NaiveGraph> shares;
  std::vector<const ContextLog*> programs;
  for (std::size_t shard = 0; shard < logs.size(); ++shard) {
    NaiveAnalysis analysis(program, rule);
    shares.push_back(logs.size() == 1 ? analysis.analyse()
                                      : analysis.analyse_share(steps, static_cast<int>(shard)));
    programs.push_back(&logs[shard].log_of(nullptr));
    const std::string wrong = judge_share(program, rule, shares.back(), logs[shard]);
    if (!wrong.empty()) return fmt::format("shard {}: {}", shard, wrong);
  }
  // The union is judged by edges, point by point: those that are left out lead elsewhere.
  if (leaves_out_edges(seed)) return {};
  return judge_union(program, shares, programs, counts);
}

/// What random programs come to.
struct Sums {
  std::size_t messages = 0, replayed = 0;
  UnionCounts counts{};
};

/// Runs the program of a seed, and judges it.
void try_program(std::uint64_t seed, Sums& sums) {
  std::vector<Observation> expected;
  const Program program = resolve(generate(seed), &expected);
  const auto count = static_cast<shard::ShardId>(1 + mix(seed, 5) % 9);
  Shards shards(count, seed);
  std::vector<GraphRecorder> logs(count);
  const bool logged = mix(seed, 9) % 4 != 0;  // without a log the analysis takes shorter ways
  shards.run([&](Runtime& runtime, shard::ShardId shard) {
    const MappingRule rule(runtime.machine(), MappingRule::Style::spread, seed);
    runtime.set_mapper(rule.mapper(seed % 3 == 0));
    if (logged) runtime.impl().listeners().add(logs[shard], {runtime::Events::graph});
    EXPECT_EQ(compare(program, expected, execute(runtime, program)), "")
        << "seed " << seed << ", shard " << shard << " of " << count;
    if (count > 1) sums.replayed += runtime.counters().replayed_tasks;
  });
  NaiveTraffic traffic(program, static_cast<int>(count),
                       [seed](const std::string& task, const data::IndexSpaceRef& domain) {
                         return some_sharding(task, domain, seed);
                       });
  NaiveMessages naive = traffic.messages();
  NaiveMessages sent = shards.messages();
  for (const auto& [pair, all] : sent) sums.messages += all.size();
  if (has_failures(program)) {
    naive = without_bytes(std::move(naive));
    sent = without_bytes(std::move(sent));
  }
  EXPECT_EQ(to_text(sent), to_text(naive)) << "seed " << seed << ", " << count << " shards";
  if (!logged) return;
  EXPECT_EQ(judge_shards(program, seed, traffic.steps(), logs, sums.counts), "")
      << "seed " << seed << ", " << count << " shards";
}

TEST(OnShards, RandomProgramsAreWhatTheInterpreterSays) {
  Sums sums;
  for (TestBudget budget(600, 30); budget.more() && !HasFailure(); budget.next())
    try_program(budget.seed(), sums);
  EXPECT_GT(sums.messages, 100u);
  EXPECT_GT(sums.replayed, 100u);
  EXPECT_GT(sums.counts.across, 100u);
  RecordProperty("replayed_tasks", static_cast<int>(sums.replayed));
  RecordProperty("flows", static_cast<int>(sums.counts.flows));
  RecordProperty("orders", static_cast<int>(sums.counts.ordered));
  RecordProperty("orders_across_shards", static_cast<int>(sums.counts.across));
  RecordProperty("orders_by_sharing_a_message", static_cast<int>(sums.counts.joined));
}

/// Few programs destroy a region in a replay, and have another one in its place when the replay is left.
TEST(OnShards, ARegionThatAReplayHasMadeIsUsedAsFarAsItWas) {
  Sums sums;
  try_program(28804, sums);
}

/// As many processors and memories as `ranks` machines like `one` have.
void expect_machine_of(std::uint32_t ranks, const Machine& one, const Machine& all) {
  EXPECT_EQ(all.ranks(), ranks);
  EXPECT_EQ(all.memories().size(), ranks * one.memories().size());
  ASSERT_EQ(all.processors().size(), ranks * one.processors().size());
  for (const Processor& processor : all.processors())
    EXPECT_EQ(processor.rank, processor.id / one.processors().size());
  for (const Memory& memory : all.memories())
    EXPECT_EQ(memory.capacity, one.memory(memory.id % one.memories().size()).capacity);
}

TEST(OnShards, TheMachineOfAProgramIsThatOfAllShards) {
  const Task look{"look", [](Context& ctx) { return ctx.machine().ranks(); }};
  const Machine one = machine::load(kShardsMachine);
  for (const shard::ShardId shards : {1U, 3U}) {
    Shards all(shards, shards);
    all.run([&](Runtime& runtime, shard::ShardId) {
      runtime.run([&](Context& ctx) {
        expect_machine_of(shards, one, ctx.machine());
        EXPECT_EQ(ctx.launch(look).get(), shards);
        EXPECT_EQ(&ctx.machine() == &runtime.machine(), shards == 1);
      });
      expect_machine_of(1, one, runtime.machine());
    });
  }
}

TEST(OnShards, TheMachineOfADryRunIsThatOfAllShards) {
  Options options;
  options.machine = kShardsMachine;
  options.dry = true;
  options.shard = {.number = 2, .of = 5};
  Runtime(options).run(
      [&](Context& ctx) { expect_machine_of(5, machine::load(kShardsMachine), ctx.machine()); });
}

/// What a partition by value is made of is there, and afterwards a shard has its own part alone.
TEST(OnShards, ADryRunIsRunWholeUntilItsFirstFence) {
  static constexpr Field<Point1> owner{"owner"};
  static constexpr Field<double> value{"value"}, sum{"sum"};
  constexpr int kPieces = 8;
  const IndexSpace<1> colours{Rect1{0, kPieces - 1}};
  std::atomic<int> ran{0};
  const Task place{"place", [&ran](Write<Point1> to) {
                     for (auto p : to.domain()) to[p] = Point1{(p[0] * 5) % kPieces};
                     ++ran;
                   }};
  const Task add{"add", [&ran](ReadWrite<double>, Reduce<Sum, double>) { ++ran; }};
  Options options;
  options.machine = kShardsMachine;
  options.dry = true;
  options.shard = {.number = 2, .of = 4};
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 63}, owner, value, sum);
    const auto rows = ctx.blocks(cells, kPieces);
    ctx.fill(cells, value, 1.0);
    ctx.fill(cells, sum, 1.0);
    ctx.launch(place, kPieces, rows[owner]);
    const auto pieces = ctx.by_colour(cells, owner, colours);
    EXPECT_EQ(pieces(3).points().volume(), 8u);
    const auto others = ctx.image(cells, rows, owner);
    EXPECT_EQ(ran, kPieces);
    ctx.launch(add, kPieces, pieces[value], others[sum]);
    ctx.fence();
    EXPECT_EQ(ran, 2 * kPieces);
    const Counters before = runtime.counters();
    ctx.launch(add, kPieces, pieces[value], others[sum]);
    ctx.fence();
    EXPECT_EQ(runtime.counters().tasks - before.tasks, 2u);
    EXPECT_EQ(ran, 2 * kPieces);
    EXPECT_THROW(static_cast<void>(ctx.by_colour(cells, owner, colours)), UsageError);
  });
}

TEST(OnShards, TheValuesOfAGroupAreSentOnce) {
  Shards shards(3, 1);
  shards.run([](Runtime& runtime, shard::ShardId /*shard*/) {
    runtime.run([](Context& context) {
      const Task same{"same", [](int value) { return value; }};
      const auto values = context.launch(same, 9, 5);
      EXPECT_EQ(values.get(3), 5);
      EXPECT_EQ(context.reduce(values, Sum{}).get(), 45);
      EXPECT_EQ(context.reduce(values, Max{}).get(), 5);
    });
  });
  const NaiveMessages messages = shards.messages();
  EXPECT_EQ(messages.size(), 6u);
  for (const auto& [pair, all] : messages) EXPECT_EQ(all.size(), 1u);
}

/// They are packed. Failures come in their places.
TEST(OnShards, ResultsMayOwnMemory) {
  for (const shard::ShardId shards : {1u, 2u, 5u}) {
    Shards(shards, shards).run([](Runtime& runtime, shard::ShardId /*shard*/) {
      runtime.run([](Context& context) {
        const Task digits{"digits", [](Point<1> p) {
                            if (p[0] == 4) throw std::runtime_error("four");
                            return std::vector<std::string>(static_cast<std::size_t>(p[0]),
                                                            std::string(20, '7'));
                          }};
        const Task join{"join", [](const std::vector<std::string>& words) {
                          std::string all;
                          for (const std::string& word : words) all += word;
                          return all;
                        }};
        const auto words = context.launch(digits, 9);
        for (std::size_t i = 0; i < 9; ++i) {
          if (i == 4) EXPECT_THROW(static_cast<void>(words.get(i)), TaskFailed);
          else EXPECT_EQ(words.get(i), std::vector<std::string>(i, std::string(20, '7')));
        }
        const auto three = context.launch(join, std::vector<std::string>{"a", "b", "c"});
        const auto longer = context.launch(
            Task{"twice", [](const std::string& text) { return text + text; }}, 3, three);
        EXPECT_EQ(longer.get(2), "abcabc");
        EXPECT_EQ(three.get(), "abc");
      });
    });
  }
}

/// A type with a destructor that nobody can pack.
TEST(OnShards, ResultsThatCannotBePackedAreRefused) {
  Shards(2, 1).run([](Runtime& runtime, shard::ShardId /*shard*/) {
    runtime.run([](Context& context) {
      const Task owner{"owner", [] { return std::make_unique<int>(7); }};
      try {
        context.launch(owner);
        ADD_FAILURE();
      } catch (const UsageError& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with("task 'owner' launched at ")) << text;
        EXPECT_NE(text.find("no refrain::Packing"), std::string::npos) << text;
      }
    });
  });
}

/// None sends it to all the others.
TEST(OnShards, AValueGoesToAllByATree) {
  Shards shards(8, 1);
  shards.run([](Runtime& runtime, shard::ShardId /*shard*/) {
    runtime.run([](Context& context) {
      const Task seven{"seven", [] { return 7; }};
      EXPECT_EQ(context.launch(seven).get(), 7);
    });
  });
  std::map<int, std::size_t> sent, received;
  for (const auto& [pair, all] : shards.messages()) {
    sent[pair.first] += all.size();
    received[pair.second] += all.size();
  }
  EXPECT_EQ(sent[0], 3u);
  for (int shard = 1; shard < 8; ++shard) {
    EXPECT_LE(sent[shard], 2u);
    EXPECT_EQ(received[shard], 1u);
  }
}

/// Up the tree of three shards for the result, and down for who asks.
TEST(OnShards, AReductionsResultStaysUntilItIsAskedFor) {
  for (const bool asked : {false, true}) {
    Shards shards(3, 1);
    shards.run([asked](Runtime& runtime, shard::ShardId /*shard*/) {
      runtime.run([asked](Context& context) {
        const Task rank{"rank", [](Point<1> p) { return 1.0 / static_cast<double>(1 + p[0]); }};
        const Task alone{"alone", [](double value) { return value; }};
        const auto sum = context.reduce(context.launch(rank, 9), Sum{});
        const auto same = context.launch(alone, sum);  // it runs where the sum is
        if (!asked) return;
        EXPECT_EQ(sum.get(), same.get());
        EXPECT_EQ(sum.get(), same.get());
      });
    });
    const NaiveMessages messages = shards.messages();
    const auto between = [&](int from, int to) {
      const auto found = messages.find({from, to});
      return found == messages.end() ? std::size_t{0} : found->second.size();
    };
    for (const int other : {1, 2}) {
      EXPECT_EQ(between(other, 0), 1u);
      EXPECT_EQ(between(0, other), asked ? 2u : 0u);
      EXPECT_EQ(between(other, 3 - other), 0u);
    }
  }
}

/// All shards have a value that the program has asked for, also when it has ended; of another one all say the same.
TEST(OnShards, FuturesThatOutliveTheirProgram) {
  Shards shards(3, 1);
  shards.run([](Runtime& runtime, shard::ShardId /*shard*/) {
    const Task seven{"seven", [] { return 7; }};
    const Task tens{"tens", [](Point1 point) { return 10 * static_cast<int>(point[0]); }};
    Future<int> asked, kept;
    FutureMap<int> all_asked, all_kept;
    runtime.run([&](Context& context) {
      all_asked = context.launch(tens, 4);
      all_kept = context.launch(tens, 4);
      EXPECT_EQ(all_asked.get(3), 30);
      asked = context.launch(seven);
      kept = context.launch(seven);
      EXPECT_EQ(asked.get(), 7);
    });
    EXPECT_EQ(asked.get(), 7);
    EXPECT_THROW(static_cast<void>(kept.get()), UsageError);
    EXPECT_THROW(static_cast<void>(kept.ready()), UsageError);
    EXPECT_EQ(all_asked.get(2), 20);
    EXPECT_THROW(static_cast<void>(all_kept.get(2)), UsageError);
    runtime.run([&](Context& context) {
      EXPECT_EQ(context.reduce(all_asked, Sum{}).get(), 60);
      EXPECT_THROW(context.reduce(all_kept, Sum{}), UsageError);
      for (std::size_t point = 0; point < 4; ++point)
        EXPECT_THROW(static_cast<void>(all_kept.get(point)), UsageError);
      const Task same{"same", [](int value) { return value; }};
      EXPECT_EQ(context.launch(same, asked).get(), 7);
      EXPECT_THROW(context.launch(same, kept), UsageError);
      EXPECT_THROW(static_cast<void>(kept.get()), UsageError);
    });
  });
}

TEST(OnShards, EverythingIsReadyAfterAFence) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Shards shards(4, seed);
    shards.run([](Runtime& runtime, shard::ShardId /*shard*/) {
      runtime.run([&](Context& context) {
        const Task seven{"seven", [] { return 7; }};
        const Task tens{"tens", [](Point1 point) { return 10 * static_cast<int>(point[0]); }};
        const Future<int> one = context.launch(seven);
        const FutureMap<int> many = context.launch(tens, 6);
        const Future<int> sum = context.reduce(many, Sum{});
        context.fence();
        EXPECT_TRUE(one.ready());
        EXPECT_TRUE(many.ready());
        EXPECT_TRUE(sum.ready());
      });
    });
  }
}

/// What the program has asked for, a task may use that has not been given it. Else it would have a part of the values.
TEST(OnShards, ATaskAddsUpTheValuesOfAGroup) {
  Shards shards(3, 2);
  shards.run([](Runtime& runtime, shard::ShardId /*shard*/) {
    runtime.run([&](Context& context) {
      const Task tens{"tens", [](Point1 point) { return 10 * static_cast<int>(point[0]); }};
      const FutureMap<int> asked = context.launch(tens, 6), kept = context.launch(tens, 6);
      EXPECT_EQ(asked.get(1), 10);
      context.fence();
      const Task add{"add", [&](Context& nested, bool all) {
                       try {
                         return nested.reduce(all ? asked : kept, Sum{}).get();
                       } catch (const UsageError&) { return -1; }
                     }};
      EXPECT_EQ(context.launch(add, true).get(), 150);
      EXPECT_EQ(context.launch(add, false).get(), -1);
    });
  });
}

/// As finalisers do it: each shard gives a region up when it likes. It ends on all of them at the same call.
TEST(OnShards, RegionsGivenUpAtDifferentTimes) {
  constexpr int kRounds = 60;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const shard::ShardId count = 1 + static_cast<shard::ShardId>(seed % 5);
    std::vector<std::vector<std::uint64_t>> alive(count);
    std::vector<int> sums(count, 0);
    const auto program = [&](Runtime& runtime, shard::ShardId shard) {
      static constexpr Field<int> value{"value"};
      const Task add{"add", [](ReadWrite<int> x, int more) {
                       for (auto p : x.domain()) x[p] += more;
                     }};
      const Task sum{"sum", [](Read<int> x) {
                       int all = 0;
                       for (auto p : x.domain()) all += x[p];
                       return all;
                     }};
      const auto give_up_regions = [&](Context& context) {
        Random random(mix(seed, shard));
        std::vector<Region<1>> unused;
        const auto give_up = [&](std::size_t at) {
          context.destroy_later(unused[at]);
          unused.erase(unused.begin() + static_cast<std::ptrdiff_t>(at));
        };
        for (int round = 0; round < kRounds; ++round) {
          const auto cells = context.region(Rect1{0, 7}, value);
          const auto blocks = context.blocks(cells, 4);
          context.launch(add, 4, blocks[value], round);
          sums[shard] += context.launch(sum, cells[value]).get();
          unused.push_back(cells);
          while (!unused.empty() && random.percent(60))
            give_up(static_cast<std::size_t>(random.below(static_cast<int>(unused.size()))));
          alive[shard].push_back(runtime.counters().regions_alive);
        }
        while (!unused.empty()) give_up(0);
        EXPECT_THROW(context.destroy_later(Region<1>{}), UsageError);
      };
      // What the first program gives up last, and shard 0 alone at the very end, is nothing to the second.
      runtime.run([&](Context& context) {
        give_up_regions(context);
        if (shard == 0) context.destroy_later(context.region(Rect1{0, 7}, value));
        else context.region(Rect1{0, 7}, value);
      });
      runtime.run(give_up_regions);
      EXPECT_EQ(runtime.counters().regions_alive, 0u);
    };
    Shards shards(count, seed);
    shards.run(program);
    for (shard::ShardId shard = 0; shard < count; ++shard) {
      EXPECT_EQ(sums[shard], 2 * 8 * kRounds * (kRounds - 1) / 2);
      EXPECT_EQ(alive[shard], alive[0]) << "seed " << seed << ", shard " << shard;
    }
    const std::uint64_t interval = mix(seed, 8) % 40;
    // 16 comparisons are some 200 calls then.
    EXPECT_TRUE(interval == 0 || interval >= 12 || alive[0].back() < kRounds) << "seed " << seed;
  }
}

/// A region is given up by one shard alone, or by all and then used.
TEST(OnShards, ARegionThatOthersUseStays) {
  Shards shards(2, 3);
  shards.run([](Runtime& runtime, shard::ShardId shard) {
    static constexpr Field<int> value{"value"};
    const Task add{"add", [](ReadWrite<int> x) { x[x.domain().bounds().lo] += 1; }};
    const Task first{"first", [](Read<int> x) { return x[x.domain().bounds().lo]; }};
    runtime.run([&](Context& context) {
      const auto cells = context.region(Rect1{0, 3}, value);
      if (shard == 1) {
        context.destroy_later(cells);
        EXPECT_THROW(context.destroy_later(cells), UsageError);
      }
      for (int i = 0; i < 1000; ++i) context.launch(add, cells[value]);
      EXPECT_EQ(context.launch(first, cells[value]).get(), 1000);
    });
  });
}

/// Each shard is asked for the memory of its own pieces only, and has their values afterwards, whoever wrote them.
TEST(OnShards, MemoryIsAttachedByPieces) {
  Shards shards(3, 1);
  shards.run([](Runtime& runtime, shard::ShardId shard) {
    static constexpr Field<int> value{"value"};
    const Task add{"add", [](ReadWrite<int, 2> x) {
                     for (auto p : x.domain()) x[p] += 1;
                   }};
    const Task fails{"fails", [](ReadWrite<int, 2>) { throw std::runtime_error("no luck"); }};
    std::map<Coord, std::vector<int>> mine;
    runtime.run([&](Context& context) {
      // Rows of four values, in memory with room for six.
      const auto cells = context.region(Rect2{{0, 0}, {5, 3}}, value);
      const auto rows = context.blocks(cells, {6, 1});
      const auto memory = [&](Point2 colour) {
        std::vector<int>& row = mine.try_emplace(colour[0], 6, -1).first->second;
        std::fill_n(row.begin() + 1, 4, 10 * static_cast<int>(colour[0]));
        return PlacedMemory{&row[1], {}};
      };
      context.attach(rows, value, memory, Sharding::cyclic());
      context.launch(add, Rect2{{0, 0}, {5, 0}}, rows[value]);  // runs by blocks
      EXPECT_EQ((context.access<Read>(cells[value])[{4, 3}]), 41);
      context.launch(add, rows({5, 0})[value]);
      context.detach(rows, value);
      for (const auto& [row, has] : mine) {
        EXPECT_EQ(row % 3, static_cast<Coord>(shard));
        const int is = 10 * static_cast<int>(row) + (row == 5 ? 2 : 1);
        EXPECT_EQ(has, (std::vector<int>{-1, is, is, is, is, -1}));
      }
      EXPECT_EQ(mine.size(), 2u);
      EXPECT_THROW(context.access<Read>(cells[value]), UsageError);

      // The failure of one shard's piece is told to all.
      context.attach(rows, value, memory);
      context.launch(fails, rows({3, 0})[value]);
      EXPECT_THROW(context.detach(rows, value), TaskFailed);
      context.fence();
    });
  });
}

/// Pieces that are attached until their region or the program ends; those of a shard that has none; failures of several
/// shards, of which all are told the first first.
TEST(OnShards, AttachedPiecesEndWithTheirRegion) {
  Shards shards(3, 4);
  shards.run([](Runtime& runtime, shard::ShardId shard) {
    static constexpr Field<int> a{"a"}, b{"b"};
    const Task fails{
        "fails", [](Write<int>, int number) { throw std::runtime_error(std::to_string(number)); }};
    const auto text = [](const std::function<void()>& call) -> std::string {
      try {
        call();
      } catch (const TaskFailed& failed) {
        return std::string(failed.what()).substr(std::string(failed.what()).size() - 1);
      }
      return "none";
    };
    std::map<Coord, std::vector<int>> of_a, of_b, left;
    runtime.run([&](Context& context) {
      const auto memory = [](std::map<Coord, std::vector<int>>& mine) {
        return [&mine](Point1 colour) {
          return mine.try_emplace(colour[0], 2, 5).first->second.data();
        };
      };
      const auto cells = context.region(Rect1{0, 5}, a, b);
      const auto parts = context.blocks(cells, 3);
      context.attach(parts, a, memory(of_a));
      context.attach(parts, b, memory(of_b));
      context.launch(fails, parts(2)[a], 1);
      context.launch(fails, parts(0)[a], 2);
      EXPECT_EQ(text([&] { context.detach(parts, a); }), "1");
      EXPECT_EQ(text([&] { context.fence(); }), "2");
      EXPECT_EQ(text([&] { context.fence(); }), "none");
      context.launch(fails, parts(1)[b], 3);
      EXPECT_EQ(text([&] { context.destroy(cells); }), "3");

      const auto none = context.region(Rect2{{0, 0}, {3, 3}}, a);
      const auto no_parts = Partition<2>(context.make_explicit(none, {}));
      context.attach(no_parts, a, [](Point1) -> int* { return nullptr; });
      context.detach(no_parts, a);
      const auto few = context.region(Rect1{0, 1}, a);
      context.attach(context.blocks(few, 1), a, memory(left),
                     Sharding::function("last", [](const Point3&, const Rect3&, ShardId all,
                                                   std::uint64_t) { return all - 1; }));
      context.fill(few, a, 9);
    });
    EXPECT_EQ(left.size(), shard == 2 ? 1u : 0u);
    for (const auto& [colour, values] : left) EXPECT_EQ(values, (std::vector<int>{9, 9}));
  });
}

/// While the program has an access open, launches use points beside it, so the instance of the field grows.
TEST(OnShards, AnInstanceGrowsWhileAnAccessIsOpen) {
  Shards shards(2, 1);
  shards.run([](Runtime& runtime, shard::ShardId /*shard*/) {
    runtime.run([](Context& context) {
      static constexpr Field<double> value{"value"};
      const Task add{"add", [](ReadWrite<double> x) {
                       for (auto p : x.domain()) x[p] += 1;
                     }};
      const auto cells = context.region(Rect1{0, 63}, value);
      const auto blocks = context.blocks(cells, 8);
      {
        auto open = context.access<Write>(blocks(3)[value]);
        for (Coord i = 24; i < 32; ++i) open[i] = 5;
        for (int block : {4, 2, 7, 0}) context.launch(add, blocks(block)[value]);
        for (Coord i = 24; i < 32; ++i) open[i] += 1;
      }
      context.launch(add, 8, blocks[value]);
      const auto seen = context.access<Read>(cells[value]);
      for (Coord i = 0; i < 64; ++i) {
        const Coord block = i / 8;
        const bool twice = block == 4 || block == 2 || block == 7 || block == 0;
        EXPECT_EQ(seen[i], block == 3 ? 7 : twice ? 2 : 1) << i;
      }
    });
  });
}

/// An end of a network where one rank has no memory for messages of a kind: to send them, to await them, or for the list
/// of failures that they have.
class ShortOfMemory final : public net::Transport {
 public:
  enum class For { sending, awaiting, failures };
  struct Shortage {
    net::Rank rank;
    For what;
    replication::MessageKind kind;
  };
  ShortOfMemory(std::unique_ptr<net::Transport> end, const Shortage& shortage)
      : end_(std::move(end)), shortage_(shortage) {}

  [[nodiscard]] net::Rank rank() const override { return end_->rank(); }
  [[nodiscard]] net::Rank ranks() const override { return end_->ranks(); }
  void send(net::Message message) override {
    if (hits(For::sending, message.header())) throw std::bad_alloc();
    end_->send(std::move(message));
  }
  void expect(const net::Header& header) override {
    if (hits(For::awaiting, header)) throw std::bad_alloc();
    end_->expect(header);
  }
  std::optional<net::Message> poll() override {
    std::optional<net::Message> message = end_->poll();
    if (!message || !hits(For::failures, message->header())) return message;
    replication::Writer list;
    replication::begin_trailer(list, message->header().size);
    list.number(~std::uint64_t{0} / 2);
    auto longer =
        net::Message::of_size(message->header(), message->header().size + list.bytes().size());
    const auto behind = std::ranges::copy(message->bytes(), longer.bytes().begin()).out;
    std::ranges::copy(list.bytes(), behind);
    return longer;
  }
  [[nodiscard]] bool may_come() const override { return end_->may_come(); }
  [[noreturn]] void abort(const std::string& text) noexcept override {
    std::fprintf(stderr, "%s\n", text.c_str());
    std::_Exit(3);
  }

 private:
  [[nodiscard]] bool hits(For what, const net::Header& header) const {
    return rank() == shortage_.rank && what == shortage_.what &&
           header.kind == number_of(shortage_.kind);
  }

  const std::unique_ptr<net::Transport> end_;
  const Shortage shortage_;
};

/// Data, contributions and futures, between two shards in both directions.
void exchange(Context& context) {
  static constexpr Field<double> value{"value"};
  const Task add{"add", [](ReadWrite<double> x) {
                   for (auto p : x.domain()) x[p] += 1;
                 }};
  const Task count{"count", [](Reduce<Sum, double> sum, Read<double> x) {
                     for (auto p : x.domain()) sum[p[0] % 2] += x[p];
                   }};
  const Task rank{"rank", [](Point<1> p) { return static_cast<double>(p[0]); }};
  const auto cells = context.region(Rect1{0, 63}, value);
  const auto total = context.region(Rect1{0, 1}, value);
  const auto blocks = context.blocks(cells, 8);
  context.fill(cells, value, 1.0);
  for (int i = 0; i < 20; ++i) {
    context.fill(total, value, 0.0);
    context.launch(add, 8, blocks[value]);
    context.launch(count, 8, total[value], context.halo(blocks, 1)[value]);
    EXPECT_EQ(context.reduce(context.launch(rank, 8), Sum{}).get(), 28);
  }
}

/// What one shard alone has no memory for ends the run, which says what it was.
TEST(OnShardsDeathTest, NoMemoryForAMessageEndsTheRun) {
  using For = ShortOfMemory::For;
  using replication::MessageKind;
  std::vector<ShortOfMemory::Shortage> shortages;
  for (const net::Rank rank : {0, 1}) {
    for (const auto kind : {MessageKind::values, MessageKind::contributions, MessageKind::future})
      for (const For what : {For::sending, For::awaiting}) shortages.push_back({rank, what, kind});
    shortages.push_back({rank, For::failures, MessageKind::values});
  }
  for (const auto& shortage : shortages) {
    Shards shards(2, 1, [&shortage](std::unique_ptr<net::Transport> end) {
      return std::make_unique<ShortOfMemory>(std::move(end), shortage);
    });
    const std::string words = "refrain: rank " + std::to_string(shortage.rank) +
                              " has met an error that others may not have, so the run ends: "
                              "operation '(send|receive|reduce)'( launched at "
                              "[^ ]*on_shards_test.cpp:[0-9]+)? failed: ";
    EXPECT_EXIT(shards.run([](Runtime& runtime, shard::ShardId) { runtime.run(exchange); }),
                testing::ExitedWithCode(3), words)
        << "rank " << shortage.rank << ", kind " << number_of(shortage.kind) << ", for "
        << static_cast<int>(shortage.what);
  }
}

/// Random programs, each shard on a thread of its own, with workers: for ThreadSanitizer.
TEST(OnShardsWithThreads, RandomProgramsAreWhatTheInterpreterSays) {
  for (TestBudget budget(60, 10); budget.more() && !HasFailure(); budget.next()) {
    const std::uint64_t seed = budget.seed();
    std::vector<Observation> expected;
    const Program program = resolve(generate(seed), &expected);
    const auto count = static_cast<shard::ShardId>(2 + mix(seed, 5) % 3);
    Random random(mix(seed, 91));
    const net::InProcess network(count, [&](std::size_t below) { return random.next() % below; });
    const auto slots = detail::TaskSlots::beside_process();
    std::vector<std::thread> shards;
    for (shard::ShardId shard = 0; shard < count; ++shard)
      shards.emplace_back([&, shard] {
        Options options;
        options.machine = kShardsMachine;
        options.workers = static_cast<int>(mix(seed, 6) % 3);
        options.check_determinism = mix(seed, 8) % 40;
        set_tracing(options, seed, shard);
        runtime::World world{nullptr, slots, std::make_shared<net::Mailbox>(network.open(shard))};
        Runtime runtime(std::make_shared<runtime::RuntimeImpl>(options, std::move(world)));
        const MappingRule rule(runtime.machine(), MappingRule::Style::spread, seed);
        runtime.set_mapper(rule.mapper(seed % 3 == 0));
        EXPECT_EQ(compare(program, expected, execute(runtime, program)), "")
            << "seed " << seed << ", shard " << shard << " of " << count;
      });
    for (std::thread& each : shards) each.join();
    EXPECT_EQ(network.in_flight(), 0u);
  }
}

}  // namespace
}  // namespace refrain::test::on_shards_test
