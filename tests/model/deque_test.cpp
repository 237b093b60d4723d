// The work-stealing deque and the notifier as shipped, with threads and tiny bounds.

#include "exec/deque.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "exec/notifier.hpp"

namespace refrain::exec::deque_test {
namespace {

TEST(DequeModel, EveryWordIsTakenOnce) {
  constexpr int kWords = 400;
  for (int round = 0; round < 100; ++round) {
    Deque deque(2);
    std::vector<int> written(kWords, 0), taken(kWords, 0);  // plain: whoever takes a word owns them
    std::atomic<int> left{kWords};
    const auto take = [&](std::uintptr_t word) {
      if (word == 0) return;
      taken[word - 1] += written[word - 1];
      left.fetch_sub(1, std::memory_order_relaxed);
    };
    std::vector<std::thread> thieves;
    for (int t = 0; t < 2; ++t) {
      thieves.emplace_back([&] {
        while (left.load(std::memory_order_relaxed) > 0) {
          take(deque.steal());
          std::this_thread::yield();
        }
      });
    }
    for (int i = 0; i < kWords; ++i) {
      written[i] = 1;
      deque.push(static_cast<std::uintptr_t>(i) + 1);
      if (i % 3 == round % 3) take(deque.take());
    }
    while (left.load(std::memory_order_relaxed) > 0) take(deque.take());
    for (std::thread& thief : thieves) thief.join();
    ASSERT_EQ(taken, std::vector<int>(kWords, 1)) << "round " << round;
  }
}

TEST(NotifierModel, NoWakeUpIsLost) {
  // Two threads hand a number to and fro; each sleeps until the other has raised it.
  constexpr int kTurns = 4000;
  Notifier notifier(3, 2, [] { return nullptr; });
  std::atomic<int> turn{0};
  const auto play = [&](int self) {
    Sleeper sleeper;
    for (int t = self; t < kTurns; t += 2) {
      while (turn.load(std::memory_order_seq_cst) != t) {
        notifier.prepare(sleeper, self);
        if (turn.load(std::memory_order_seq_cst) == t) {
          notifier.cancel(sleeper);
        } else {
          notifier.commit(sleeper);
        }
      }
      turn.store(t + 1, std::memory_order_seq_cst);
      notifier.notify_one(1 - self);
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), kTurns);
}

}  // namespace
}  // namespace refrain::exec::deque_test
