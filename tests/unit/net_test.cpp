// Messages within a process, the agreement of ranks, and who has launched a program.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/agreement.hpp"
#include "net/all_reduce.hpp"
#include "net/hang_watch.hpp"
#include "net/in_process.hpp"
#include "net/launcher.hpp"
#include "net/mailbox.hpp"
#include "refrain/error.hpp"
#include "support/random.hpp"

namespace refrain::net::net_test {
namespace {

InProcess::Choose seeded(std::uint64_t seed) {
  return [random = std::make_shared<test::Random>(seed)](std::size_t n) {
    return static_cast<std::size_t>(random->below(static_cast<int>(n)));
  };
}

TEST(InProcess, MessagesArriveOnceInAnyOrder) {
  bool overtaken = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::uint64_t watched = 0;
    InProcess network(3, seeded(seed), [&](const Message&) { ++watched; });
    std::vector<std::unique_ptr<Transport>> ends;
    for (Rank rank = 0; rank < 3; ++rank) ends.push_back(network.open(rank));
    for (std::uint64_t number = 0; number < 20; ++number)
      for (Rank from = 0; from < 3; ++from)
        for (Rank to = 0; to < 3; ++to) {
          if (from == to) continue;
          Message message({.from = from, .to = to, .number = number, .size = 1});
          message.bytes()[0] = static_cast<std::byte>(number);
          ends[from]->send(std::move(message));
        }
    EXPECT_EQ(watched, 120U);
    std::map<std::pair<Rank, Rank>, std::vector<std::uint64_t>> arrived;
    for (Rank rank = 0; network.in_flight() > 0; rank = (rank + 1) % 3)
      if (const auto message = ends[rank]->poll()) {
        EXPECT_EQ(message->header().to, rank);
        EXPECT_EQ(message->bytes()[0], static_cast<std::byte>(message->header().number));
        arrived[{message->header().from, rank}].push_back(message->header().number);
      }
    for (auto& [pair, numbers] : arrived) {
      overtaken |= !std::ranges::is_sorted(numbers);
      std::ranges::sort(numbers);
      ASSERT_EQ(numbers.size(), 20U);
      for (std::uint64_t number = 0; number < 20; ++number) ASSERT_EQ(numbers[number], number);
    }
    ASSERT_EQ(arrived.size(), 6U);
  }
  EXPECT_TRUE(overtaken);
}

/// The mailboxes of a network that a seed drives.
struct Mailboxes {
  Mailboxes(Rank ranks, std::uint64_t seed, Mailbox::Mismatch mismatch = nullptr)
      : random(seed), network(ranks, seeded(seed), [this](const Message&) { ++sent; }) {
    for (Rank rank = 0; rank < ranks; ++rank)
      boxes.push_back(std::make_unique<Mailbox>(network.open(rank), mismatch));
  }
  void poll_one() {
    boxes[static_cast<std::size_t>(random.below(static_cast<int>(boxes.size())))]->poll();
  }
  void poll_all() {
    while (network.in_flight() > 0) poll_one();
  }

  test::Random random;
  std::uint64_t sent = 0;
  InProcess network;
  std::vector<std::unique_ptr<Mailbox>> boxes;
};

TEST(Mailbox, KeepsWhatNobodyServesYet) {
  Mailboxes all(2, 1);
  std::vector<std::uint64_t> taken;
  all.boxes[1]->serve(7, nullptr);
  all.boxes[1]->serve(8, nullptr);
  const auto send = [&](std::uint32_t kind, std::uint64_t call) {
    Header header = all.boxes[0]->beside(1, kind);
    header.call = call;
    all.boxes[0]->send(Message(header));
    all.poll_all();
  };
  send(7, 1);
  send(8, 2);
  send(7, 3);
  EXPECT_TRUE(taken.empty());
  all.boxes[1]->serve(7, [&](const Message& message) { taken.push_back(message.header().call); });
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{1, 3}));
  send(7, 4);
  EXPECT_EQ(taken.back(), 4U);
  all.boxes[1]->serve(8, [&](const Message& message) { taken.push_back(message.header().call); });
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{1, 3, 4, 2}));
}

TEST(Mailbox, MessagesAreTakenByTheirNumbers) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Mailboxes all(2, seed);
    std::vector<std::uint64_t> taken(40, 0);
    std::vector<Header> expected;
    for (std::uint64_t call = 0; call < 40; ++call) {
      Header header = all.boxes[0]->next_to(1, 3, call, 2);
      header.size = 8;
      Message message(header);
      std::memcpy(message.bytes().data(), &call, 8);
      all.boxes[0]->send(std::move(message));
      expected.push_back(all.boxes[1]->next_from(0, 3, call, 2));
    }
    // Some are there before anybody waits for them.
    while (!expected.empty()) {
      const auto chosen =
          static_cast<std::size_t>(all.random.below(static_cast<int>(expected.size())));
      const Header next = expected[chosen];
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(chosen));
      all.boxes[1]->await(next, {}, [&taken, next](const Message& message) {
        std::uint64_t value = 0;
        std::memcpy(&value, message.bytes().data(), 8);
        EXPECT_EQ(value, next.call);
        ++taken[value];
      });
      all.poll_one();
    }
    all.poll_all();
    EXPECT_EQ(taken, std::vector<std::uint64_t>(40, 1));
    EXPECT_TRUE(all.boxes[1]->awaited().empty());
  }
}

TEST(Mailbox, PartsOfAMessageAreSentTogether) {
  Mailboxes all(2, 1);
  const std::vector<std::byte> two{std::byte{1}, std::byte{2}}, one{std::byte{3}};
  std::vector<std::byte> taken;
  all.boxes[0]->send(all.boxes[0]->next_to(1, 3, 17), {two, {}, one});
  all.boxes[1]->await(all.boxes[1]->next_from(0, 3, 17), {}, [&](const Message& message) {
    taken.assign(message.bytes().begin(), message.bytes().end());
  });
  all.poll_all();
  EXPECT_EQ(taken, (std::vector<std::byte>{std::byte{1}, std::byte{2}, std::byte{3}}));
}

TEST(Message, SaysForHowManyBytesThereIsNoRoom) {
  const std::size_t bytes = ~std::size_t{0} / 2;
  try {
    (void)Message::of_size({}, bytes);
    ADD_FAILURE() << "there is no such message";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.what(), "no memory for a message of " + std::to_string(bytes) + " bytes");
  }
}

TEST(Mailbox, WhatTakesAMessageMayFindThatItIsAnother) {
  std::vector<Header> found;
  Mailboxes all(2, 1,
                [&](const Expected&, const Message& came) { found.push_back(came.header()); });
  all.boxes[0]->send(Message(all.boxes[0]->next_to(1, 3, 17, 0)));
  all.boxes[1]->await(all.boxes[1]->next_from(0, 3, 17, 0), {},
                      [](const Message&) { throw WrongMessage(); });
  all.poll_all();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].call, 17U);
}

TEST(Mailbox, AnotherMessageThanExpectedIsAMismatch) {
  std::vector<std::pair<Header, Header>> found;
  Mailboxes all(2, 1, [&](const Expected& expected, const Message& came) {
    found.emplace_back(expected.header, came.header());
  });
  all.boxes[0]->send(Message(all.boxes[0]->next_to(1, 3, 17, 0)));
  all.boxes[1]->await(all.boxes[1]->next_from(0, 3, 18, 0), {}, [](const Message&) { FAIL(); });
  ASSERT_EQ(all.boxes[1]->awaited().size(), 1U);
  EXPECT_EQ(all.boxes[1]->awaited()[0].header.call, 18U);
  all.poll_all();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].first.call, 18U);
  EXPECT_EQ(found[0].second.call, 17U);
}

TEST(AllReduce, CombinesInTheOrderOfTheRanks) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Rank ranks = 1 + static_cast<Rank>(seed % 9);
    Mailboxes all(ranks, seed);
    std::map<std::pair<Rank, int>, Bytes> results;
    const auto append = [](Bytes& into, std::span<const std::byte> next) {
      into.insert(into.end(), next.begin(), next.end());
    };
    // Several at once.
    for (int i = 0; i < 3; ++i)
      for (Rank rank = 0; rank < ranks; ++rank) {
        all_reduce(*all.boxes[rank], {9, static_cast<std::uint64_t>(i)},
                   {static_cast<std::byte>(rank), static_cast<std::byte>(i)}, append,
                   [&results, rank, i](Bytes result) {
                     results[{rank, i}] = std::move(result);
                   });
        all.poll_one();
      }
    all.poll_all();
    ASSERT_EQ(results.size(), 3 * ranks);
    for (const auto& [key, result] : results) {
      Bytes expected;
      for (Rank rank = 0; rank < ranks; ++rank)
        append(expected, Bytes{static_cast<std::byte>(rank), static_cast<std::byte>(key.second)});
      ASSERT_EQ(result, expected);
    }
    ASSERT_EQ(all.sent, 3 * 2 * (ranks - 1));
  }
}

constexpr std::uint32_t kHang = 77;

/// Ranks that send each other messages, run for a while when one comes, and rest otherwise: as far as the watch goes.
class Workers {
 public:
  Workers(Rank ranks, std::uint64_t seed) : all_(ranks, seed), busy_(ranks, 0) {
    for (Rank rank = 0; rank < ranks; ++rank)
      watches_.push_back(
          std::make_unique<HangWatch>(*all_.boxes[rank], kHang, [this](const std::string& text) {
            EXPECT_TRUE(found_.empty());
            EXPECT_TRUE(is_over()) << text;
            found_ = text;
          }));
  }
  /// A message that makes its receiver busy, and perhaps send others.
  void send(Rank from, Rank to, int then) {
    Mailbox& box = *all_.boxes[from];
    box.send(Message(box.next_to(to, 3, 0)));
    ++in_flight_;
    Mailbox& other = *all_.boxes[to];
    other.await(other.next_from(from, 3, 0), {}, [this, to, then](const Message&) {
      --in_flight_;
      busy_[to] += 1 + all_.random.below(5);
      then_[to] += then;
    });
  }
  /// One thing happens.
  void step() {
    now_ += 10'000'000;
    const auto rank = static_cast<Rank>(all_.random.below(static_cast<int>(busy_.size())));
    if (busy_[rank] > 0) {
      if (--busy_[rank] == 0 && then_[rank] > 0) {
        const int then = std::exchange(then_[rank], 0) - 1;
        const auto ranks = static_cast<Rank>(busy_.size());
        send(rank, (rank + 1 + static_cast<Rank>(all_.random.below(int(ranks) - 1))) % ranks, then);
      }
      if (all_.random.below(2) == 0) all_.boxes[rank]->poll();
    } else if (!all_.boxes[rank]->poll() && busy_[rank] == 0) {
      watches_[rank]->rest(now_);
    }
  }
  [[nodiscard]] bool is_over() const {
    return in_flight_ == 0 && std::ranges::all_of(busy_, [](int busy) { return busy == 0; });
  }
  [[nodiscard]] const std::string& found() const { return found_; }
  Mailbox& box(Rank rank) { return *all_.boxes[rank]; }
  HangWatch& watch(Rank rank) { return *watches_[rank]; }

 private:
  Mailboxes all_;
  std::vector<std::unique_ptr<HangWatch>> watches_;
  std::vector<int> busy_;     ///< steps that each rank still runs
  std::map<Rank, int> then_;  ///< messages that it then sends on
  int in_flight_ = 0;
  std::string found_;
  HangWatch::Nanoseconds now_ = 0;
};

TEST(HangWatch, FindsARunThatHangsAndNoOther) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Rank ranks = 2 + static_cast<Rank>(seed % 4);
    Workers workers(ranks, seed);
    const Header never{.to = 1, .number = 1'000'000, .call = 12, .argument = 2, .kind = 5};
    workers.box(1).await(never, Where("main.cpp", 33), [](const Message&) { FAIL(); });
    for (Rank rank = 0; rank < ranks; ++rank) workers.send(rank, (rank + 1) % ranks, 40);
    int steps = 0;
    while (workers.found().empty() && steps < 200'000) {
      workers.step();
      ++steps;
    }
    ASSERT_NE(workers.found(), "") << "seed " << seed;
    EXPECT_TRUE(workers.found().starts_with("refrain: the run hangs"));
    EXPECT_NE(workers.found().find("rank 0 waits for no message"), std::string::npos);
    EXPECT_NE(workers.found().find(
                  "rank 1 waits for kind 5 of call 12, argument 2, of rank 0, for main.cpp:33"),
              std::string::npos)
        << workers.found();
  }
}

TEST(HangWatch, EndsARunInWhichOneRankWaitsForTooLong) {
  Mailboxes all(2, 1);
  std::vector<std::string> found;
  HangWatch watch(*all.boxes[1], kHang, [&](const std::string& text) { found.push_back(text); });
  watch.set_limit(1'000'000'000);
  for (HangWatch::Nanoseconds now = 0; now < 990'000'000; now += 10'000'000) watch.rest(now);
  EXPECT_TRUE(found.empty());
  for (HangWatch::Nanoseconds now = 2'000'000'000; now <= 2'990'000'000; now += 10'000'000)
    watch.rest(now);
  EXPECT_TRUE(found.empty()) << "it was busy in between";
  watch.rest(3'000'000'000);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0],
            "refrain: a rank has waited for longer than --refrain:hang-after allows\n"
            "  rank 1 waits for no message");
}

/// What each rank's agreement throws; nothing: "". After it each rank sends the others a message at once.
std::vector<std::string> agree_all(std::uint64_t seed,
                                   const std::vector<std::vector<Item>>& items) {
  const auto ranks = static_cast<Rank>(items.size());
  const InProcess network(ranks, seeded(seed));
  std::vector<std::string> errors(ranks);
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Mailbox mailbox(network.open(rank));
      try {
        agree(mailbox, 1, items[rank]);
      } catch (const InputError& error) { errors[rank] = error.what(); }
      Rank missing = ranks - 1;
      for (Rank other = 0; other < ranks; ++other) {
        if (other == rank) continue;
        mailbox.send(Message(mailbox.next_to(other, 2, 0)));
        mailbox.await(mailbox.next_from(other, 2, 0), {}, [&](const Message&) { --missing; });
      }
      while (missing > 0) mailbox.poll();
    });
  for (std::thread& each : threads) each.join();
  return errors;
}

TEST(Agreement, TellsTheLeastOfAll) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::vector<std::uint64_t>> numbers{
      {7, kMost, 5}, {9, kMost - 1, 5}, {8, kMost, 4}, {7, kMost, 6}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const InProcess network(4, seeded(seed));
    std::vector<std::vector<std::uint64_t>> least = numbers;
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < 4; ++rank)
      threads.emplace_back([&, rank] {
        Mailbox mailbox(network.open(rank));
        agree(mailbox, 1, {}, least[rank]);
        std::ranges::sort(least[rank], std::greater());  // and again, of other numbers
        agree(mailbox, 1, {}, least[rank]);
      });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(least, (std::vector<std::vector<std::uint64_t>>(4, {kMost - 1, 7, 4})));
  }
}

TEST(Agreement, NamesADifference) {
  const std::vector<Item> items{{"the build", "17"}, {"--flag", ""}};
  std::vector<Item> other = items;
  other[1].value = "v";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(agree_all(seed, {items, items, items}), std::vector<std::string>(3));
    EXPECT_EQ(agree_all(seed, {items}), std::vector<std::string>(1));
    EXPECT_EQ(agree_all(seed, {items, other, other}),
              std::vector<std::string>(
                  3, "the ranks were not started alike: --flag on rank 0 is '', on rank 1 'v'"));
    EXPECT_EQ(agree_all(seed, {items, items, {items[0]}}),
              std::vector<std::string>(
                  3, "the ranks were not started alike: ranks 0 and 2 run different programs"));
    EXPECT_EQ(agree_all(seed, {items, items, items, other}),
              std::vector<std::string>(
                  4, "the ranks were not started alike: --flag on rank 2 is '', on rank 3 'v'"));
  }
}

/// Which kind of MPI, and how many ranks (0: unknown); "alone".
std::string launcher_in(const std::map<std::string, std::string>& environment) {
  const auto launched = find_launcher([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
  if (!launched) return "alone";
  return std::string(launched->mpi == Mpi::open_mpi ? "Open MPI " : "MPICH ") +
         std::to_string(launched->ranks.value_or(0));
}

TEST(Launcher, IsToldByTheEnvironment) {
  EXPECT_EQ(launcher_in({}), "alone");
  // Within a job of Slurm, started without srun, and the only rank.
  EXPECT_EQ(launcher_in({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}),
            "alone");
  EXPECT_EQ(launcher_in({{"SLURM_STEP_NUM_TASKS", "1"}}), "alone");
  EXPECT_EQ(launcher_in({{"OMPI_COMM_WORLD_SIZE", "1"}}), "alone");
  EXPECT_EQ(launcher_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), "alone");

  EXPECT_EQ(launcher_in({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "1"}}), "Open MPI 4");
  EXPECT_EQ(launcher_in({{"PMIX_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "3"}}), "Open MPI 3");
  EXPECT_EQ(launcher_in({{"PMI_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}), "MPICH 4");
  EXPECT_EQ(launcher_in({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), "MPICH 2");
  EXPECT_EQ(launcher_in({{"PMI_RANK", "1"}}), "MPICH 0");
  EXPECT_THROW(launcher_in({{"SLURM_STEP_NUM_TASKS", "4"}}), InputError);

  EXPECT_EQ(launcher_in({{"REFRAIN_NET", "alone"}, {"SLURM_STEP_NUM_TASKS", "4"}}), "alone");
  EXPECT_EQ(launcher_in({{"REFRAIN_NET", "mpich"}, {"PMIX_RANK", "1"}}), "MPICH 0");
  EXPECT_THROW(launcher_in({{"REFRAIN_NET", "mpi"}}), InputError);
}

// As where Refrain was built without MPI, and mpirun starts a program.
TEST(Launcher, SaysThatThereIsNoLibrary) {
  const std::filesystem::path nowhere[] = {"/nowhere/lib", "/nowhere/else"};
  const auto message = [&](const Launched& launched) {
    try {
      static_cast<void>(find_library(launched, nowhere));
    } catch (const InputError& error) { return std::string(error.what()); }
    return std::string("found");
  };
  EXPECT_EQ(message({Mpi::open_mpi, "Open MPI's mpirun (OMPI_COMM_WORLD_SIZE is set)", 4}),
            "this program was started by Open MPI's mpirun (OMPI_COMM_WORLD_SIZE is set), but "
            "Refrain was built without this kind of MPI: librefrain_net_openmpi.so is in none of\n"
            "  /nowhere/lib\n  /nowhere/else\n"
            "Build Refrain where the headers of Open MPI (libopenmpi-dev) are installed, set "
            "REFRAIN_NET_PATH to the library's folder, or REFRAIN_NET=alone to run without other "
            "ranks");
  EXPECT_NE(message({Mpi::mpich, "a launcher", 4}).find("MPICH (libmpich-dev)"), std::string::npos);
}

}  // namespace
}  // namespace refrain::net::net_test
