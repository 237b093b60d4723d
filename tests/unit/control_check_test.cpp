// Ranks that make the same calls are never told otherwise; those that do not are told the first that differs.

#include "replication/control_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "net/in_process.hpp"
#include "refrain/task.hpp"
#include "support/random.hpp"

namespace refrain::replication::control_check_test {
namespace {

using net::Rank;

struct Call {
  std::string name;
  std::uint32_t line;
  std::uint64_t argument;
};

/// Runs a program per rank, one `times` after the other, in an order that the seed decides. The violation's text, or ""
/// when all ended.
std::string run(std::uint64_t seed, const std::vector<std::vector<Call>>& programs,
                std::size_t interval, std::size_t times = 1) {
  test::Random random(seed);
  const auto choose = [&](std::size_t n) {
    return static_cast<std::size_t>(random.below(static_cast<int>(n)));
  };
  const auto ranks = static_cast<Rank>(programs.size());
  const net::InProcess network(ranks, choose);
  std::string violation;
  std::vector<std::unique_ptr<net::Mailbox>> boxes;
  std::vector<std::unique_ptr<ControlCheck>> checks;
  for (Rank rank = 0; rank < ranks; ++rank) {
    boxes.push_back(std::make_unique<net::Mailbox>(network.open(rank)));
    checks.push_back(std::make_unique<ControlCheck>(*boxes[rank], CheckKinds{1, 2}, interval,
                                                    [&](const std::string& text) {
                                                      EXPECT_EQ(violation, "") << "told once";
                                                      violation = text;
                                                    }));
  }
  std::vector<std::size_t> next(ranks, 0), ended(ranks, 0);
  const auto is_over = [&] {
    if (!violation.empty()) return true;
    for (Rank rank = 0; rank < ranks; ++rank)
      if (ended[rank] < times || checks[rank]->open() != 0) return false;
    return true;
  };
  for (int steps = 0; !is_over(); ++steps) {
    if (steps == 1'000'000) return "does not end";
    const auto rank = static_cast<Rank>(choose(ranks));
    boxes[rank]->poll();
    if (ended[rank] == times || checks[rank]->open() > 2) continue;
    if (next[rank] == programs[rank].size()) {
      checks[rank]->finish("the end of the program", Where("main.cpp", 99));
      ++ended[rank];
      next[rank] = 0;
      continue;
    }
    const Call& call = programs[rank][next[rank]++];
    checks[rank]->begin(runtime::CallName::kept(call.name), Where("main.cpp", call.line));
    checks[rank]->add(call.argument);
  }
  return violation;
}

std::vector<Call> random_calls(test::Random& random, int most = 40) {
  std::vector<Call> calls;
  for (int n = random.below(most); n > 0; --n)
    calls.push_back({"call " + std::to_string(random.below(3)),
                     static_cast<std::uint32_t>(random.below(5)), random.next() % 4});
  return calls;
}

// Doubles with few digits differ in their high bits alone.
TEST(CallHash, TellsValuesOfOneLaunchApart) {
  using Slot = refrain::detail::ValueSlot<double>;
  using Values = std::tuple<Slot, Slot, Slot>;
  std::set<std::uint64_t> hashes;
  const auto value = [](int n) { return Slot{std::in_place_index<0>, static_cast<double>(n)}; };
  for (int a = -8; a <= 8; ++a)
    for (int b = -8; b <= 8; ++b)
      for (int c = -8; c <= 8; ++c) {
        const Values values{value(a), value(b), value(c)};
        const std::uint64_t hash = refrain::detail::argument_ops<Values>.hash(&values);
        EXPECT_TRUE(hashes.insert(hash).second) << a << ' ' << b << ' ' << c;
      }
}

// A value, which is put in before the call's token: no two pairs make the same of a state.
TEST(CallHash, TellsValuesAndTokensApart) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> hashes;
  for (std::uint64_t value = 0; value < 64; ++value)
    for (std::uint64_t token = 0; token < 64; ++token) {
      runtime::CallHash hash;
      hash.add(7);
      hash.put(value << 58);
      hash.add(token);
      EXPECT_TRUE(hashes.emplace(hash.low(), hash.high()).second) << value << ' ' << token;
    }
}

TEST(ControlCheck, SaysNothingOfEqualPrograms) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::Random random(seed);
    const std::vector<std::vector<Call>> programs(static_cast<std::size_t>(random.between(1, 9)),
                                                  random_calls(random));
    ASSERT_EQ(run(seed, programs, static_cast<std::size_t>(random.between(1, 12))), "")
        << "seed " << seed;
  }
}

TEST(ControlCheck, NamesTheFirstCallThatDiffers) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    test::Random random(seed);
    const std::vector<Call> calls = random_calls(random);
    std::vector<std::vector<Call>> programs(static_cast<std::size_t>(random.between(2, 9)), calls);
    // One rank makes another call, one more, or one less.
    std::vector<Call>& odd =
        programs[static_cast<std::size_t>(random.below(static_cast<int>(programs.size())))];
    const auto place = static_cast<std::size_t>(random.below(static_cast<int>(calls.size()) + 1));
    const auto at = odd.begin() + static_cast<std::ptrdiff_t>(place);
    if (place < calls.size() && random.percent(50)) at->argument += 7;
    else odd.insert(at, {"odd", 7, 7});
    const std::string text = run(seed, programs, static_cast<std::size_t>(random.between(1, 12)));
    ASSERT_NE(text.find("Call " + std::to_string(place) + " is\n"), std::string::npos)
        << "seed " << seed << ": " << text;
  }
}

TEST(ControlCheck, GoesOnWithTheNextProgram) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    test::Random random(seed);
    const auto ranks = static_cast<std::size_t>(random.between(1, 4));
    const std::vector<std::vector<Call>> programs(ranks, random_calls(random, 700));
    const auto interval = static_cast<std::size_t>(random.percent(50) ? random.between(1, 20)
                                                                      : random.between(200, 600));
    ASSERT_EQ(run(seed, programs, interval, static_cast<std::size_t>(random.between(2, 5))), "")
        << "seed " << seed;
  }
}

TEST(ControlCheck, NamesTheFirstCallThatDiffersInALongProgram) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    test::Random random(seed);
    const std::vector<Call> calls = random_calls(random, 1500);
    std::vector<std::vector<Call>> programs(3, calls);
    const auto place = static_cast<std::size_t>(random.below(static_cast<int>(calls.size()) + 1));
    programs[1].insert(programs[1].begin() + static_cast<std::ptrdiff_t>(place), {"odd", 7, 7});
    const std::string text =
        run(seed, programs, static_cast<std::size_t>(random.between(1, 600)), 3);
    ASSERT_NE(text.find("Call " + std::to_string(place) + " is\n"), std::string::npos)
        << "seed " << seed << ": " << text;
  }
}

/// Each rank proposes the same, at calls of its own. All are told of the same at the same call.
TEST(ControlCheck, RanksAgreeOnWhatAllPropose) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    test::Random random(seed);
    const auto ranks = static_cast<Rank>(random.between(1, 5));
    const auto interval = static_cast<std::size_t>(random.between(1, 40));
    const auto choose = [&](std::size_t n) {
      return static_cast<std::size_t>(random.below(static_cast<int>(n)));
    };
    const net::InProcess network(ranks, choose);
    struct OfRank {
      std::unique_ptr<net::Mailbox> box;
      std::unique_ptr<ControlCheck> check;
      std::size_t calls = 0;
      std::vector<std::pair<std::size_t, std::uint64_t>> proposes, agreed;  ///< at which call
    };
    std::vector<OfRank> all(ranks);
    constexpr std::size_t kCalls = 1500;
    for (OfRank& each : all) {
      const auto rank = static_cast<Rank>(&each - all.data());
      each.box = std::make_unique<net::Mailbox>(network.open(rank));
      each.check = std::make_unique<ControlCheck>(*each.box, CheckKinds{1, 2}, interval,
                                                  [](const std::string& text) { FAIL() << text; });
      for (std::uint64_t what = 0; what < 20; ++what)
        if (what < 19 || rank == 0) each.proposes.emplace_back(choose(300), what);
    }
    const auto is_over = [&] {
      return std::ranges::all_of(all, [](const OfRank& each) { return each.calls == kCalls; });
    };
    while (!is_over()) {
      OfRank& each = all[choose(ranks)];
      each.box->poll();
      if (each.calls == kCalls || each.check->open() > each.check->most_open()) continue;
      for (const std::uint64_t what : each.check->take_agreed())
        each.agreed.emplace_back(each.calls, what);
      each.check->begin("call", Where("main.cpp", 1));
      for (const auto& [call, what] : each.proposes)
        if (call == each.calls) each.check->propose(what);
      ++each.calls;
    }
    EXPECT_EQ(all[0].agreed.size(), ranks == 1 ? 20u : 19u) << "seed " << seed;
    for (const OfRank& each : all) EXPECT_EQ(each.agreed, all[0].agreed) << "seed " << seed;
  }
}

TEST(ControlCheck, SaysWhichRanksSayWhat) {
  const std::vector<Call> usual{{"fill", 1, 0}, {"launch of task 'relax'", 2, 5}};
  // From another line, which alone would make no difference.
  const std::vector<Call> other{{"fill", 4, 0}, {"launch of task 'relax'", 3, 6}};
  EXPECT_EQ(run(1, {usual, other, usual}, 100),
            "refrain: the ranks do not make the same calls, as control replication needs them to. "
            "Call 1 is\n"
            "  on rank 0, 2: launch of task 'relax' at main.cpp:2\n"
            "  on rank 1: launch of task 'relax' at main.cpp:3");
  EXPECT_EQ(run(1, {usual, {usual[0]}}, 100),
            "refrain: the ranks do not make the same calls, as control replication needs them to. "
            "Call 1 is\n"
            "  on rank 0: launch of task 'relax' at main.cpp:2\n"
            "  on rank 1: the end of the program at main.cpp:99");
  const std::vector<Call> third{{"fill", 1, 0}, {"launch of task 'relax'", 2, 6}};
  const std::string text = run(1, {usual, third}, 1);
  EXPECT_NE(
      text.find("on rank 0: launch of task 'relax' at main.cpp:2, with arguments whose hash is "),
      std::string::npos)
      << text;
}

// Rank 0's call goes on, and may be any of its name.
TEST(ControlCheck, SaysNothingOfACallThatGoesOn) {
  const net::InProcess network(3, [](std::size_t) { return std::size_t{0}; });
  std::string violation;
  std::vector<std::unique_ptr<net::Mailbox>> boxes;
  std::vector<std::unique_ptr<ControlCheck>> checks;
  for (Rank rank = 0; rank < 3; ++rank) {
    boxes.push_back(std::make_unique<net::Mailbox>(network.open(rank)));
    checks.push_back(std::make_unique<ControlCheck>(
        *boxes[rank], CheckKinds{1, 2}, 100, [&](const std::string& text) { violation = text; }));
    checks[rank]->begin("fill", Where("main.cpp", 1));
    checks[rank]->add(rank == 1 ? 7 : 5);
    if (rank != 0) checks[rank]->begin("copy", Where("main.cpp", 2));
  }
  checks[0]->suspect("a task is missing");
  for (int rounds = 0; rounds < 10; ++rounds)
    for (const auto& box : boxes) box->poll();
  EXPECT_NE(violation.find("on rank 1: fill at main.cpp:1, with arguments whose hash is "),
            std::string::npos)
      << violation;
  EXPECT_NE(violation.find("on rank 2: fill at main.cpp:1, with arguments whose hash is "),
            std::string::npos)
      << violation;
  EXPECT_EQ(violation.find("rank 0"), std::string::npos) << violation;
}

}  // namespace
}  // namespace refrain::replication::control_check_test
