// The judges judged: plans, the interpreter and the shrinker on cases whose answer is known.

#include <gtest/gtest.h>

#include <cstring>

#include "support/generate.hpp"
#include "support/hand_made.hpp"
#include "support/interpreter.hpp"
#include "support/shrink.hpp"
#include "support/text.hpp"

namespace refrain::test::plan_test {
namespace {

TEST(Plan, ComesFromItsSeedAlone) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(to_text(resolve(generate(seed))), to_text(resolve(generate(seed))));
  EXPECT_NE(to_text(resolve(generate(1))), to_text(resolve(generate(2))));
}

TEST(Plan, HasEverythingSomewhere) {
  std::map<Statement::Kind, int> kinds;
  std::map<PartitionSpec::Op, int> partitions;
  std::map<Privilege, int> privileges;
  int sparse = 0, nested = 0, deep = 0, groups = 0, relaxed = 0, future_arguments = 0, thrown = 0,
      dims[4] = {};
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Program program = resolve(generate(seed));
    for (const Resolved& r : program.statements) {
      ++kinds[r.spec.kind];
      if (r.spec.kind == Statement::Kind::partition) {
        ++partitions[r.spec.partition.op];
        deep += r.spec.partition.parent.partition >= 0 ? 1 : 0;
      }
      if (r.spec.kind == Statement::Kind::create) ++dims[program.shape(r.tree).dim];
      if (r.spec.kind != Statement::Kind::launch) continue;
      sparse += r.spec.launch.domain.dense ? 0 : 1;
      groups += r.spec.launch.domain.group ? 1 : 0;
      future_arguments += static_cast<int>(r.spec.launch.futures.size());
      for (const PointTask& t : r.points) {
        nested += t.children.empty() ? 0 : 1;
        thrown += t.throws != PointTask::Throws::no ? 1 : 0;
        for (const ResolvedArgument& a : t.arguments) relaxed += a.relaxed ? 1 : 0;
      }
      for (const RequirementSpec& q : r.spec.launch.requirements) ++privileges[q.privilege];
    }
  }
  EXPECT_EQ(kinds.size(), 17U);
  EXPECT_EQ(partitions.size(), 11U);
  EXPECT_EQ(privileges.size(), 4U);
  for (const auto& [kind, n] : kinds) EXPECT_GE(n, 10) << static_cast<int>(kind);
  for (const auto& [op, n] : partitions) EXPECT_GE(n, 10) << static_cast<int>(op);
  for (const int n :
       {sparse, nested, deep, groups, relaxed, future_arguments, thrown, dims[1], dims[2], dims[3]})
    EXPECT_GE(n, 30);
}

TEST(Resolve, LeavesOutWhatConflicts) {
  HandMade make;
  make.region(8);
  make.blocks(0, 4);
  // Neighbours overlap: every point writes two blocks, shifted.
  make.launch(4, {HandMade::piece(0, Privilege::read_write), HandMade::whole(Privilege::read)});
  make.launch(
      4, {HandMade::whole(Privilege::reduce), HandMade::whole(Privilege::reduce, OpKind::max)});
  make.launch(4, {HandMade::whole(Privilege::write)});
  const Program program = resolve(make.plan);
  EXPECT_EQ(program.statements[2].spec.launch.requirements.size(), 1U);
  EXPECT_EQ(program.statements[3].spec.launch.requirements.size(), 1U);
  EXPECT_EQ(program.statements[4].spec.launch.requirements.size(), 0U);
}

TEST(Resolve, LeavesOutWhatIsGone) {
  HandMade make;
  make.region(8);
  make.blocks(0, 2);
  make.destroy_partition(0);
  make.launch(2, {HandMade::piece(0, Privilege::read)});
  make.destroy_region(0);
  make.fill(1);
  const Program program = resolve(make.plan);
  ASSERT_EQ(program.statements.size(), 5U);
  EXPECT_TRUE(program.statements[3].spec.launch.requirements.empty());
}

TEST(Interpreter, FoldsAccumulatorsThatStartAtTheIdentity) {
  HandMade make;
  make.region(1);
  make.launch(3, {HandMade::whole(Privilege::reduce)});
  const Program program = resolve(make.plan);
  // By hand: three accumulators, each summed from -0.0, then folded in order into the zero.
  double region = 0;
  for (int point = 0; point < 3; ++point) {
    HandMade one;
    one.region(1);
    one.plan.statements.push_back(make.plan.statements.back());
    one.plan.statements.back().launch.domain.points = {{point, 0, 0}};
    std::vector<Observation> observed;
    resolve(one.plan, &observed);
    double accumulated = 0;  // 0.0 + accumulator: the accumulator itself, as it is no zero
    std::memcpy(&accumulated, observed[0].values.data(), sizeof accumulated);
    region = region + accumulated;
  }
  std::vector<Observation> observed;
  resolve(make.plan, &observed);
  EXPECT_EQ(std::memcmp(observed[0].values.data(), &region, sizeof region), 0);
  EXPECT_NE(region, 0.0);
}

TEST(Interpreter, NewRegionsHoldZerosAndCopiesCopy) {
  HandMade make;
  make.region(3);
  make.region(3);
  make.fill(0);
  make.copy(0, 1);
  std::vector<Observation> observed;
  resolve(make.plan, &observed);
  ASSERT_EQ(observed.size(), 2U);
  EXPECT_EQ(observed[0].values, observed[1].values);
  make.plan.statements.pop_back();
  resolve(make.plan, &observed);
  EXPECT_EQ(observed[1].values, std::vector<std::byte>(24));
}

TEST(Interpreter, WhoeverReadsWhatAFailedTaskShouldHaveWrittenFails) {
  HandMade make;
  make.region(4);
  make.blocks(0, 2);
  make.launch(2, {HandMade::piece(0, Privilege::read_write)});  // 0, 1: the second throws
  make.plan.statements.back().launch.throws_at = 1;
  make.launch(2, {HandMade::piece(0, Privilege::read_write)});  // 2, 3: the second does not run
  make.launch(0, {HandMade::whole(Privilege::reduce)});         // 4 runs, but is folded nowhere
  make.fence();
  make.fence();
  std::vector<Observation> observed;
  resolve(make.plan, &observed);
  ASSERT_EQ(observed.size(), 2U);  // at the first fence, and when the region is read
  EXPECT_EQ(observed[0], (Observation{5, {}, 1}));
  EXPECT_EQ(observed[1], (Observation{7, {}, 1}));
  make.fill(0);
  resolve(make.plan, &observed);
  ASSERT_EQ(observed.size(), 2U);
  EXPECT_EQ(observed[1].failure, -1);
}

TEST(Shrink, FindsASmallProgram) {
  const auto fails = [](const Plan& plan) {
    int reductions = 0;
    bool partition = false;
    for (const Resolved& r : resolve(plan).statements) {
      partition |= r.spec.kind == Statement::Kind::partition;
      for (const RequirementSpec& q : r.spec.launch.requirements)
        reductions += q.privilege == Privilege::reduce ? 1 : 0;
    }
    return partition && reductions >= 2;
  };
  int shrunk = 0;
  for (std::uint64_t seed = 1; shrunk < 5; ++seed) {
    const Plan plan = generate(seed);
    if (plan.statements.size() < 12 || !fails(plan)) continue;
    ++shrunk;
    const Plan small = shrink(plan, fails);
    EXPECT_TRUE(fails(small));
    // At most two launches, each on a region and a partition of its own, one of them of another.
    EXPECT_LE(small.statements.size(), 7U) << to_text(resolve(small));
  }
}

}  // namespace
}  // namespace refrain::test::plan_test
