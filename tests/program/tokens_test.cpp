// Tokens: a program gives the same sequence in every run, with any number of workers, in every process;
// and a loop that makes and destroys its temporaries repeats them.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

#include "refrain/refrain.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/generate.hpp"
#include "support/hand_made.hpp"
#include "support/mapping_rule.hpp"
#include "support/random.hpp"
#include "support/runner.hpp"
#include "support/test_budget.hpp"

namespace refrain::test::tokens_test {
namespace {

using Tokens = std::vector<std::uint64_t>;

class TokenLog final : public runtime::Listener {
 public:
  explicit TokenLog(Tokens& tokens) : tokens_(tokens) {}
  void called(const Call& call) override { tokens_.push_back(call.token); }

 private:
  Tokens& tokens_;
};

Tokens tokens_of(Runtime& runtime, const Plan& plan) {
  const Program program = resolve(plan);
  const MappingRule rule(runtime.machine(), MappingRule::Style::spread, plan.seed);
  runtime.set_mapper(rule.mapper(false));
  Tokens tokens;
  TokenLog log(tokens);
  runtime.impl().listeners().add(log, {runtime::Events::calls});
  const RunOutcome outcome = execute(runtime, program);
  runtime.impl().listeners().remove(log);
  EXPECT_TRUE(outcome.complaints.empty())
      << "seed " << plan.seed << ": " << outcome.complaints.front();
  return tokens;
}

Tokens tokens_of(const Plan& plan, int workers, std::optional<std::uint64_t> schedule = {}) {
  Options options;
  options.machine = "emulated:cpus=8,gpus=2";
  options.workers = workers;
  options.schedule = schedule;
  Runtime runtime(options);
  return tokens_of(runtime, plan);
}

constexpr std::uint64_t programs = 25;

TEST(Tokens, DoNotDependOnWorkersOrOrder) {
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const Plan plan = generate(seed);
    const Tokens one = tokens_of(plan, 1);
    EXPECT_FALSE(one.empty());
    EXPECT_EQ(one, tokens_of(plan, 0)) << "seed " << seed;
    EXPECT_EQ(one, tokens_of(plan, 4)) << "seed " << seed;
    EXPECT_EQ(one, tokens_of(plan, 0, seed)) << "seed " << seed;
  }
}

TEST(Tokens, RepeatInOneRuntime) {
  Options options;
  options.workers = 1;
  options.machine = "emulated:cpus=8,gpus=2";
  Runtime runtime(options);
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const Plan plan = generate(seed);
    const Tokens first = tokens_of(runtime, plan);
    EXPECT_EQ(first, tokens_of(runtime, plan)) << "seed " << seed;
  }
}

/// One number for the tokens of many programs.
std::uint64_t digest() {
  std::uint64_t all = 0;
  for (std::uint64_t seed = 1; seed <= programs; ++seed)
    for (const std::uint64_t token : tokens_of(generate(seed), 2)) all = mix(all, token);
  return all;
}

constexpr const char* file_variable = "REFRAIN_TEST_TOKEN_FILE";

/// What the other process does; without the variable it has nothing to do.
TEST(Tokens, WrittenByAnotherProcess) {
  if (const char* file = std::getenv(file_variable)) std::ofstream(file) << digest();
}

TEST(Tokens, AreTheSameInTwoProcesses) {
  char file[] = "/tmp/refrain-tokens-XXXXXX";
  const int descriptor = mkstemp(file);
  ASSERT_GE(descriptor, 0);
  close(descriptor);
  const pid_t child = fork();
  if (child == 0) {
    setenv(file_variable, file, 1);
    unsetenv("GTEST_TOTAL_SHARDS");
    unsetenv("GTEST_SHARD_INDEX");
    execl("/proc/self/exe", "tests_program", "--gtest_filter=Tokens.WrittenByAnotherProcess",
          "--gtest_brief=1", nullptr);
    std::_Exit(127);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::uint64_t theirs = 0;
  std::ifstream(file) >> theirs;
  unlink(file);
  EXPECT_EQ(theirs, digest());
}

// Fresh names would make every round another program to whoever looks for repeats.
TEST(Tokens, OfALoopRepeatThoughItMakesAndDestroys) {
  HandMade make;
  make.region(8);
  make.blocks(0, 2);
  constexpr std::size_t rounds = 6;
  for (std::size_t round = 0; round < rounds; ++round) {
    const int region = make.regions;
    make.region(4);
    make.blocks(region, 2);
    make.blocks(0, 4);
    make.fill(region);
    make.launch(2, {HandMade::piece(make.partitions - 2, Privilege::read_write),
                    HandMade::piece(0, Privilege::read)});
    make.launch(4, {HandMade::piece(make.partitions - 1, Privilege::reduce)});
    make.launch(0, {HandMade::part(make.partitions - 2, 1, Privilege::read)});
    make.destroy_partition(make.partitions - 1);
    if (round % 2 == 0) make.destroy_partition(make.partitions - 2);
    make.destroy_region(region);
  }
  // Two calls come before the rounds. Every round's partition of the region goes, with or without being destroyed by name.
  const Tokens tokens = tokens_of(make.plan, 2);
  std::vector<std::size_t> lengths;
  std::size_t at = 2;
  for (std::size_t round = 0; round < rounds; ++round) lengths.push_back(round % 2 == 0 ? 10 : 9);
  ASSERT_GE(tokens.size(), std::accumulate(lengths.begin(), lengths.end(), at));
  std::vector<Tokens> sequence;
  for (const std::size_t length : lengths) {
    sequence.emplace_back(tokens.begin() + static_cast<std::ptrdiff_t>(at),
                          tokens.begin() + static_cast<std::ptrdiff_t>(at + length));
    at += length;
  }
  for (std::size_t round = 2; round < rounds; ++round)
    EXPECT_EQ(sequence[round], sequence[round - 2]) << round;
}

/// What a program is told of its names: the tokens of its calls, in their order, and what its regions are called.
struct Names {
  Tokens tokens;
  std::vector<std::string> regions;
  friend bool operator==(const Names&, const Names&) = default;
};

/// Makes and destroys more regions and partitions than are remembered, while launches that use them are in flight.
Names names_of_many(int workers, std::optional<std::uint64_t> schedule = {}) {
  static constexpr Field<Coord> number{"number"};
  const Task add{"add", [](ReadWrite<Coord> x) {
                   for (auto p : x.domain()) ++x[p];
                 }};
  Options options;
  options.machine = "emulated:cpus=4";
  options.workers = workers;
  options.schedule = schedule;
  Runtime runtime(options);
  Names names;
  TokenLog log(names.tokens);
  runtime.impl().listeners().add(log, {runtime::Events::calls});
  runtime.run([&](Context& ctx) {
    const auto kept = ctx.region(Rect1{0, 255}, number);
    for (Coord i = 0; i < 600; ++i) {
      const auto cells = ctx.region(Rect1{0, i * 7 % 197}, number);
      const Coord pieces = 2 + i * 5 % 83;
      const auto blocks = ctx.blocks(kept, pieces);
      const auto inner = ctx.blocks(blocks(1), 1 + i % 2);
      names.regions.push_back(cells.name());
      ctx.launch(add, cells[number]);
      ctx.launch(add, pieces, blocks[number]);
      ctx.launch(add, 1 + i % 2, inner[number]);
      ctx.launch(add, blocks(0)[number]);
      ctx.destroy(blocks);
      ctx.destroy(cells);
    }
  });
  runtime.impl().listeners().remove(log);
  return names;
}

constexpr std::size_t tokens_of_many = 1 + 600 * (3 + 6);  // made, and launched or destroyed

// What is dropped follows the program's calls, not the operations that are still in flight.
TEST(Tokens, OfMoreThanIsRememberedAreTheSameUnderManySeeds) {
  const Names alone = names_of_many(0);
  EXPECT_EQ(alone.tokens.size(), tokens_of_many);
  for (TestBudget budget(12, 2); budget.more(); budget.next())
    EXPECT_TRUE(alone == names_of_many(0, budget.seed())) << "seed " << budget.seed();
}
TEST(Tokens, OfMoreThanIsRememberedDoNotDependOnWorkers) {
  const Names alone = names_of_many(0);
  EXPECT_EQ(alone.tokens.size(), tokens_of_many);
  for (TestBudget budget(3); budget.more(); budget.next())
    for (const int workers : {1, 2, 4})
      EXPECT_TRUE(alone == names_of_many(workers)) << workers << " workers, run " << budget.seed();
}

/// Of the calls of a program.
Tokens tokens_of(Runtime& runtime, const std::function<void(Context&)>& program) {
  Tokens tokens;
  TokenLog log(tokens);
  runtime.impl().listeners().add(log, {runtime::Events::calls});
  runtime.run(program);
  runtime.impl().listeners().remove(log);
  return tokens;
}

/// Says something else each time, for as long as `most` says.
class Turns final : public Mapper {
 public:
  explicit Turns(int most) : most_(most) {}
  [[nodiscard]] std::string_view name() const override { return "turns"; }
  [[nodiscard]] bool every_launch() const override { return true; }
  void map(const MappingInput&, MappingOutput& output) override {
    output.priority = turn_++ % most_;
  }

 private:
  const int most_;
  int turn_ = 0;
};

// The token is the program's, the same on processes that map otherwise.
TEST(Tokens, HoldNoMapping) {
  Options options;
  options.machine = "emulated:cpus=2";
  Runtime runtime(options);
  runtime.set_mapper(std::make_unique<Turns>(3));
  const Task nothing{"nothing", [] {}};
  const Tokens tokens = tokens_of(runtime, [&](Context& ctx) {
    for (int i = 0; i < 9; ++i) ctx.launch(nothing);
  });
  EXPECT_EQ(tokens, Tokens(9, tokens.front()));
}

/// The same plan with two mappings.
TEST(Tokens, AreTheSameWithOtherMappings) {
  const auto with = [](const Plan& plan, MappingRule::Style style) {
    Options options;
    options.machine = "emulated:cpus=8,gpus=2";
    options.workers = 1;
    Runtime runtime(options);
    const MappingRule rule(runtime.machine(), style, plan.seed);
    runtime.set_mapper(rule.mapper(false));
    Tokens tokens;
    TokenLog log(tokens);
    runtime.impl().listeners().add(log, {runtime::Events::calls});
    (void)execute(runtime, resolve(plan));
    runtime.impl().listeners().remove(log);
    return tokens;
  };
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const Plan plan = generate(seed);
    EXPECT_EQ(with(plan, MappingRule::Style::spread), with(plan, MappingRule::Style::plain))
        << "seed " << seed;
  }
}

// What is recorded under one answer is never replayed under another, though the tokens are the same.
TEST(Tokens, TellNothingOfWhatIsReplayed) {
  Options options;
  options.machine = "emulated:cpus=2";
  options.workers = 0;
  Runtime runtime(options);
  runtime.set_mapper(std::make_unique<Turns>(2));
  const Task nothing{"nothing", [] {}};
  const Trace step{"step"};
  runtime.run([&](Context& ctx) {
    for (int i = 0; i < 8; ++i) {
      ctx.begin_trace(step);
      ctx.launch(nothing);
      ctx.end_trace(step);
    }
  });
  EXPECT_EQ(runtime.counters().recordings, 2U);
}

// The making of regions and partitions is signed by what is made.
TEST(Tokens, OfWhatIsMadeSayWhatItIs) {
  static constexpr Field<double> a{"a"}, b{"b"};
  const auto of = [](const std::function<void(Context&, const Region<1>&)>& make) {
    Options options;
    options.workers = 0;
    Runtime runtime(options);
    return tokens_of(runtime, [&](Context& ctx) { make(ctx, ctx.region(Rect1{0, 9}, a)); }).back();
  };
  const std::vector<std::uint64_t> tokens{
      of([](Context& ctx, const Region<1>&) {
        ctx.region(Rect1{0, 9}, a);
      }),
      of([](Context& ctx, const Region<1>&) {
        ctx.region(Rect1{0, 8}, a);
      }),
      of([](Context& ctx, const Region<1>&) {
        ctx.region(Rect1{0, 9}, b);
      }),
      of([](Context& ctx, const Region<1>&) {
        ctx.region(Rect1{0, 9}, a, b);
      }),
      of([](Context& ctx, const Region<1>& cells) { ctx.blocks(cells, 2); }),
      of([](Context& ctx, const Region<1>& cells) { ctx.blocks(cells, 3); }),
      of([](Context& ctx, const Region<1>& cells) { ctx.blocks_of_size(cells, 2); }),
      of([](Context& ctx, const Region<1>& cells) { ctx.halo(ctx.blocks(cells, 2), 1); }),
      of([](Context& ctx, const Region<1>& cells) { ctx.halo(ctx.blocks(cells, 2), 2); }),
      of([](Context& ctx, const Region<1>& cells) { ctx.interior(ctx.blocks(cells, 2), 1); })};
  EXPECT_EQ(std::set(tokens.begin(), tokens.end()).size(), tokens.size());
  EXPECT_EQ(tokens.front(), of([](Context& ctx, const Region<1>&) { ctx.region(Rect1{0, 9}, a); }));
}

}  // namespace
}  // namespace refrain::test::tokens_test
