// Futures' states: values destroyed exactly once, failures per point, waiting through the thread's context.

#include "launch/future_state.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "refrain/error.hpp"
#include "refrain/task.hpp"

namespace refrain::detail::future_state_test {
namespace {

struct Counted {
  static inline std::atomic<int> made{0}, ended{0};
  int value;
  explicit Counted(int v) : value(v) { ++made; }
  Counted(const Counted&) = delete;
  ~Counted() { ++ended; }
};

exec::FailureRef failure_of(std::uint64_t seq, const char* text) {
  exec::Node node;
  node.seq = seq;
  return exec::Failure::thrown_by({0, node.seq}, std::make_exception_ptr(std::runtime_error(text)),
                                  [] { return "x"; });
}

/// Of a launch of the points 0 .. n - 1.
FutureState* make_group(const ResultType& type, std::size_t n, std::uint64_t context = 0) {
  const data::IndexSpaceRef points = data::IndexSpace::dense(Rect1{0, static_cast<Coord>(n) - 1});
  return FutureState::make(type, context, n, {points, points});
}

TEST(FutureState, OneValue) {
  const std::size_t before = FutureState::live_count();
  FutureState* state = FutureState::make(result_type<std::string>(), 5);
  Future<std::string> future(state);
  EXPECT_EQ(FutureState::live_count(), before + 1);
  EXPECT_FALSE(future.ready());
  EXPECT_EQ(state->context(), 5u);
  EXPECT_FALSE(state->group());
  ::new (state->storage(0)) std::string("a text that is too long to be kept inside");
  state->constructed(0);
  state->finish(0);
  EXPECT_TRUE(future.ready());
  EXPECT_EQ(future.get(), "a text that is too long to be kept inside");
  Future<std::string> copy = future;
  future = {};
  EXPECT_EQ(copy.get().size(), 41u);
  copy = {};
  EXPECT_EQ(FutureState::live_count(), before);
}

TEST(FutureState, OnlyConstructedValuesAreDestroyed) {
  Counted::made = Counted::ended = 0;
  FutureState* state = make_group(result_type<Counted>(), 4);
  FutureMap<Counted> map(state);
  ::new (state->storage(2)) Counted(7);
  state->constructed(2);
  state->finish(2);
  state->fail(1, failure_of(3, "one"));
  state->fail(3, failure_of(4, "three"));
  EXPECT_EQ(map.get(2).value, 7);
  EXPECT_FALSE(map.ready());
  ::new (state->storage(0)) Counted(1);
  state->constructed(0);
  state->finish(0);
  EXPECT_TRUE(map.ready());
  EXPECT_EQ(map.size(), 4u);
  try {
    map.wait();
    FAIL();
  } catch (const TaskFailed& error) {
    EXPECT_NE(std::string(error.what()).find("one"), std::string::npos);
  }
  EXPECT_THROW((void)map.get(3), TaskFailed);
  EXPECT_EQ(state->failure(0).get(), nullptr);
  map = {};
  EXPECT_EQ(Counted::made, 2);
  EXPECT_EQ(Counted::ended, 2);
}

TEST(FutureState, AValueMayBeThereAndThePointFailed) {
  Counted::made = Counted::ended = 0;
  Future<Counted> future(FutureState::make(result_type<Counted>(), 0));
  ::new (future.state()->storage(0)) Counted(7);
  future.state()->constructed(0);
  EXPECT_FALSE(future.ready());
  future.state()->fail(0, failure_of(3, "after the body"));
  EXPECT_TRUE(future.ready());
  EXPECT_THROW((void)future.get(), TaskFailed);
  future = {};
  EXPECT_EQ(Counted::ended, 1);
}

TEST(FutureState, WithoutAValue) {
  FutureState* state = FutureState::make(ResultType{}, 0);
  AnyFuture future(state);
  EXPECT_EQ(state->storage(0), nullptr);
  state->constructed(0);
  state->finish(0);
  future.wait();
}

TEST(FutureState, AlignedValuesAndEmptyGroups) {
  struct alignas(256) Wide {
    char bytes[256];
  };
  AnyFuture wide(make_group(result_type<Wide>(), 3));
  for (std::size_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.state()->storage(rank)) % 256, 0u);
  AnyFuture none(make_group(result_type<int>(), 0));
  EXPECT_TRUE(none.ready());
  none.wait();
  EXPECT_THROW((void)await_point(*none.state(), 0, {}), UsageError);
}

TEST(FutureState, ProducersPerPoint) {
  exec::Node nodes[3];
  AnyFuture future(make_group(result_type<double>(), 3));
  EXPECT_FALSE(future.state()->producer(1));
  for (std::size_t rank = 0; rank < 3; ++rank)
    future.state()->set_producer(rank, {&nodes[rank], 10 + rank});
  EXPECT_EQ(future.state()->producer(2), (exec::NodeRef{&nodes[2], 12}));
}

TEST(FutureState, AnyThreadMayEndThem) {
  const std::size_t before = FutureState::live_count();
  Future<int> future(FutureState::make(result_type<int>(), 0));
  Future<int> huge(make_group(result_type<int>(), 1 << 20));
  *static_cast<int*>(future.state()->storage(0)) = 3;
  future.state()->constructed(0);
  future.state()->finish(0);
  EXPECT_EQ(FutureState::live_count(), before + 2);
  EXPECT_EQ(future.get(), 3);
  std::thread([&] { future = {}; }).join();
  huge = {};
  EXPECT_EQ(FutureState::live_count(), before);
}

TEST(FutureState, ProducersOnOtherThreads) {
  const std::size_t before = FutureState::live_count();
  for (int round = 0; round < 300; ++round) {
    constexpr std::size_t points = 8;
    FutureState* state = make_group(result_type<std::string>(), points);
    FutureMap<std::string> map(state);
    const auto produce = [](FutureMap<std::string> mine, std::size_t first) {
      for (std::size_t rank = first; rank < points; rank += 2) {
        ::new (mine.state()->storage(rank)) std::string(40, static_cast<char>('a' + rank));
        mine.state()->constructed(rank);
        mine.state()->finish(rank);
      }
    };
    std::thread even(produce, map, 0), odd(produce, map, 1);
    while (!map.ready()) std::this_thread::yield();
    for (std::size_t rank = 0; rank < points; ++rank)
      EXPECT_EQ(map.get(rank), std::string(40, static_cast<char>('a' + rank)));
    map = {};
    even.join();
    odd.join();
  }
  EXPECT_EQ(FutureState::live_count(), before);
}

// --- waiting ---

/// The thread's while it lives.
class FakeContext final : public Waiter {
 public:
  explicit FakeContext(std::uint64_t id) : id_(id) {}
  ~FakeContext() { set_current(before_); }
  FakeContext(const FakeContext&) = delete;
  void wait_for(FutureState& state, std::size_t rank) override {
    ++waits;
    for (std::size_t r = 0; r < state.points(); ++r)
      if ((rank == all || rank == r) && !state.ready(r)) {
        *static_cast<int*>(state.storage(r)) = static_cast<int>(r) + 100;
        state.constructed(r);
        state.finish(r);
      }
  }
  bool may_wait_for(const FutureState& state) const override { return state.context() == id_; }
  void has_waited_for(FutureState&, std::size_t rank) override { asked.push_back(rank); }
  int waits = 0;
  std::vector<std::size_t> asked;

 private:
  std::uint64_t id_;
  Waiter* const before_ = set_current(this);
};

TEST(Waiting, GoesThroughTheThreadsContext) {
  FutureMap<int> map(make_group(result_type<int>(), 3, 1));
  EXPECT_EQ(Waiter::current(), nullptr);
  EXPECT_THROW((void)map.get(0), UsageError);  // nothing here could wait
  {
    FakeContext own(1);
    EXPECT_EQ(map.get(1), 101);
    EXPECT_EQ(own.waits, 1);
    EXPECT_EQ(map.get(1), 101);
    EXPECT_EQ(own.waits, 1);  // ready: no wait
    {
      FakeContext other(2);
      EXPECT_EQ(Waiter::current(), &other);
      EXPECT_THROW(map.wait(), UsageError);
      EXPECT_EQ(map.get(1), 101);  // what is ready may be read anywhere
    }
    EXPECT_EQ(Waiter::current(), &own);
    map.wait();
    EXPECT_EQ(own.waits, 2);
  }
  EXPECT_EQ(map.get(2), 102);
}

}  // namespace
}  // namespace refrain::detail::future_state_test
