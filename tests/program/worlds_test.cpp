// Several runtimes in one world: their programs run at once on one seeded executor, each with contexts, memories, names
// and reports of its own. What a program computes, and its tokens, are what they are when it runs alone.

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exec/seeded_executor.hpp"
#include "machine/machine.hpp"
#include "refrain/refrain.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/generate.hpp"
#include "support/mapping_rule.hpp"
#include "support/random.hpp"
#include "support/runner.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_budget.hpp"

namespace refrain::test::worlds_test {
namespace {

constexpr const char* kMachine = "emulated:cpus=8,gpus=2";

class SeenCalls final : public runtime::Listener {
 public:
  void called(const Call& call) override { tokens.push_back(call.token); }
  void executed(const exec::Executed& ran) override { scopes.insert(root_of(ran.scope)); }
  std::vector<std::uint64_t> tokens;
  std::set<std::uint64_t> scopes;  ///< root scopes in which something was executed

 private:
  static std::uint64_t root_of(const exec::Scope& scope) {
    const exec::Scope* root = &scope;
    while (root->parent() != nullptr) root = root->parent();
    return root->identity();
  }
};

Options options_of(std::uint64_t seed) {
  Options options;
  options.machine = kMachine;
  options.autotrace_min_length = 1 + mix(seed, 7) % 4;
  options.autotrace_sample = 2 + mix(seed, 8) % 5;
  options.autotrace_history = 20 + mix(seed, 10) % 80;
  return options;
}

/// A random program with what it is to observe.
struct Case {
  explicit Case(std::uint64_t number)
      : seed(number), plan(generate(number)), program(resolve(plan, &expected)) {}

  /// Runs it, in a runtime of the world that it is given. Empty, or what is wrong.
  std::string run(Runtime& runtime, SeenCalls& seen) const {
    const MappingRule rule(runtime.machine(), MappingRule::Style::spread, seed);
    runtime.set_mapper(rule.mapper(false));
    runtime.impl().listeners().add(seen, {runtime::Events::calls});
    const std::string wrong = compare(program, expected, execute(runtime, program));
    runtime.impl().listeners().remove(seen);
    return wrong;
  }
  [[nodiscard]] std::vector<std::uint64_t> tokens_alone() const {
    Options options = options_of(seed);
    options.schedule = seed;
    Runtime runtime(options);
    SeenCalls seen;
    EXPECT_EQ(run(runtime, seen), "") << "seed " << seed << ", alone";
    return seen.tokens;
  }

  std::uint64_t seed;
  std::vector<Observation> expected;
  Plan plan;
  Program program;
};

class World {
 public:
  explicit World(std::uint64_t seed)
      : executor_(std::make_shared<exec::SeededExecutor>(
            exec::plan_processors(machine::load(kMachine)), exec::ExecutorOptions{}, seed)) {}

  /// A runtime with names of its own.
  [[nodiscard]] std::unique_ptr<Runtime> runtime(const Options& options) const {
    return std::make_unique<Runtime>(std::make_shared<runtime::RuntimeImpl>(
        options, runtime::World{executor_, detail::TaskSlots::beside_process()}));
  }
  void run(const std::vector<std::function<void()>>& programs) {
    executor_->run_programs(programs);
  }

 private:
  std::shared_ptr<exec::SeededExecutor> executor_;
};

/// Several programs at once: other ones, or the same one as shards would run it.
void run_at_once(std::uint64_t seed, std::size_t count, bool same) {
  std::deque<Case> cases;
  for (std::size_t i = 0; i < count; ++i) cases.emplace_back(same ? seed : seed * 16 + i);
  World world(mix(seed, count));
  std::vector<SeenCalls> seen(count);
  std::vector<std::function<void()>> programs;
  for (std::size_t i = 0; i < count; ++i)
    programs.emplace_back([&, i] {
      const auto runtime = world.runtime(options_of(cases[i].seed));
      EXPECT_EQ(cases[i].run(*runtime, seen[i]), "") << "seed " << seed << ", program " << i;
    });
  world.run(programs);
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_EQ(seen[i].tokens, cases[i].tokens_alone()) << "seed " << seed << ", program " << i;
}

class Worlds : public testing::TestWithParam<std::size_t> {};

TEST_P(Worlds, ProgramsAtOnceAreWhatTheyAreAlone) {
  for (TestBudget budget(150, 15); budget.more() && !HasFailure(); budget.next())
    run_at_once(budget.seed(), GetParam(), false);
}

TEST_P(Worlds, OneProgramInEachOfItsRuntimes) {
  for (TestBudget budget(150, 15); budget.more() && !HasFailure(); budget.next())
    run_at_once(budget.seed(), GetParam(), true);
}

// A runtime is made, runs a program and ends, several times, while another one runs a program.
TEST_P(Worlds, ARuntimeEndsWhileOthersRun) {
  for (TestBudget budget(100, 10); budget.more() && !HasFailure(); budget.next()) {
    const std::uint64_t seed = budget.seed();
    World world(mix(seed, 77));
    std::deque<Case> cases;
    for (std::size_t i = 0; i < 3 * GetParam(); ++i) cases.emplace_back(seed * 16 + i);
    std::vector<std::function<void()>> programs;
    for (std::size_t i = 0; i < GetParam(); ++i)
      programs.emplace_back([&, i] {
        const std::size_t rounds = i == 0 ? 1 : 3;
        const auto kept = world.runtime(options_of(seed));
        for (std::size_t round = 0; round < rounds; ++round) {
          const Case& one = cases[3 * i + round];
          SeenCalls seen;
          const auto runtime = world.runtime(options_of(seed + round));
          EXPECT_EQ(one.run(i == 0 ? *kept : *runtime, seen), "") << "seed " << seed;
        }
      });
    world.run(programs);
  }
}

INSTANTIATE_TEST_SUITE_P(OfRuntimes, Worlds, testing::Values(2, 3));

constexpr Field<Coord> number{"number"};
const Task add{"add", [](ReadWrite<Coord> x, Coord a) {
                 for (auto p : x.domain()) x[p] += a;
               }};

void add_often(Context& ctx, int times) {
  auto cells = ctx.region(Rect1{0, 15}, number);
  auto blocks = ctx.blocks(cells, 4);
  const Trace step{"step"};
  for (int i = 0; i < times; ++i) ctx.trace(step, [&] { ctx.launch(add, 4, blocks[number], 1); });
  EXPECT_EQ(ctx.access<Read>(cells[number])[15], times);
}

TEST(WorldsOfRuntimes, EachIsToldOfItsOwnAndCountsIt) {
  const TemporaryFolder folder;
  World world(3);
  std::vector<std::unique_ptr<Runtime>> runtimes;
  std::vector<SeenCalls> seen(3);
  std::vector<std::function<void()>> programs;
  for (int i = 0; i < 3; ++i) {
    Options options = options_of(1);
    options.timeline =
        folder.path("timeline" + std::to_string(i));  // asks for what the executor does
    runtimes.push_back(world.runtime(options));
    runtimes.back()->impl().listeners().add(seen[static_cast<std::size_t>(i)],
                                            {runtime::Events::execution});
    programs.emplace_back([&, i] {
      runtimes[static_cast<std::size_t>(i)]->run(
          [i](Context& ctx) { add_often(ctx, 10 * (i + 1)); });
    });
  }
  world.run(programs);
  std::set<std::uint64_t> all;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(runtimes[i]->counters().tasks, 40 * (i + 1));
    EXPECT_EQ(seen[i].scopes.size(), 1u);
    all.insert(seen[i].scopes.begin(), seen[i].scopes.end());
    runtimes[i]->impl().listeners().remove(seen[i]);
  }
  EXPECT_EQ(all.size(), 3u);
}

TEST(WorldsOfRuntimes, TheErrorOfOneIsItsOwn) {
  const Task fails{"fails", [] { throw std::runtime_error("no luck"); }};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    World world(seed);
    const auto one = world.runtime(options_of(1)), two = world.runtime(options_of(2));
    world.run(
        {[&] { EXPECT_THROW(one->run([&](Context& ctx) { ctx.launch(fails); }), TaskFailed); },
         [&] { two->run([](Context& ctx) { add_often(ctx, 20); }); }});
    EXPECT_EQ(two->counters().tasks, 80u);
  }
}

}  // namespace
}  // namespace refrain::test::worlds_test
