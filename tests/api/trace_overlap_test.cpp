// Replays overlap exactly where dependences allow. One operation of one iteration is slow on purpose: it
// ends when everything that does not come after it has ended, of this iteration and of the next two. With a
// spurious dependence that never happens. And whenever an operation begins, what it comes after has ended.
//
// What comes after what is worked out by the pairwise rule: a common point, and one of the two writes. Every
// operation writes something, so its runs are ordered, and how often it has run tells the iteration.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/test_budget.hpp"

namespace refrain::test::trace_overlap_test {
namespace {

constexpr int kIterations = 11;  // the first and the last are outside the trace

struct Touch {
  std::string field;
  Coord lo, hi;
  bool writes;
};

/// One of an iteration.
struct Operation {
  std::string name;
  std::vector<Touch> touches;
  int reducer = -1;  ///< of a fold: whose contribution it is. It has no body
};

bool conflict(const Operation& a, const Operation& b) {
  for (const Touch& x : a.touches)
    for (const Touch& y : b.touches)
      if (x.field == y.field && x.lo <= y.hi && y.lo <= x.hi && (x.writes || y.writes)) return true;
  return false;
}

/// All operations of all iterations, numbered in launch order, and which come before which.
class Order {
 public:
  explicit Order(const std::vector<Operation>& operations) : operations_(operations) {
    const int count = size();
    before_.resize(static_cast<std::size_t>(count));
    for (int to = 0; to < count; ++to)
      for (int from = 0; from < to; ++from)
        if (direct(from, to)) {
          before(to).insert(from);
          before(to).insert(before(from).begin(), before(from).end());
        }
  }
  [[nodiscard]] int per_iteration() const { return static_cast<int>(operations_.size()); }
  [[nodiscard]] int size() const { return per_iteration() * kIterations; }
  [[nodiscard]] const Operation& at(int number) const {
    return operations_[static_cast<std::size_t>(number % per_iteration())];
  }
  [[nodiscard]] bool has_body(int number) const { return at(number).reducer < 0; }
  [[nodiscard]] const std::set<int>& before(int number) const {
    return before_[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] std::string name(int number) const {
    return at(number).name + " of iteration " + std::to_string(number / per_iteration());
  }

 private:
  std::set<int>& before(int number) { return before_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] bool direct(int from, int to) const {
    const int reducer = at(to).reducer;
    if (reducer >= 0 && from == to - to % per_iteration() + reducer) return true;
    return conflict(at(from), at(to));
  }

  const std::vector<Operation>& operations_;
  std::vector<std::set<int>> before_;
};

/// What the bodies tell of themselves.
class Watch {
 public:
  Watch(const Order& order, int slow) : order_(order), slow_(slow) {
    runs_.resize(static_cast<std::size_t>(order.per_iteration()));
    const int end = (slow / order.per_iteration() + 3) * order.per_iteration();
    for (int i = 0; i < std::min(end, order.size()); ++i)
      if (order.has_body(i) && i != slow && !order.before(i).contains(slow)) awaited_.insert(i);
  }

  /// The body of this operation of the iteration runs.
  void run(int operation) {
    std::unique_lock lock(mutex_);
    int& runs = runs_[static_cast<std::size_t>(operation)];
    const int number = runs++ * order_.per_iteration() + operation;
    // Not before all is launched: nothing may depend on what was done by then.
    expect(
        lock, [this] { return launched_; }, number);
    for (const int earlier : order_.before(number))
      EXPECT_TRUE(!order_.has_body(earlier) || ended_.contains(earlier))
          << order_.name(number) << " runs before the end of " << order_.name(earlier);
    if (number == slow_)
      expect(
          lock, [this] { return awaited_.empty(); }, number);
    ended_.insert(number);
    awaited_.erase(number);
    changed_.notify_all();
  }
  void all_launched() {
    const std::lock_guard lock(mutex_);
    launched_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] std::size_t ended() const { return ended_.size(); }

 private:
  /// Passing takes no time; what fails does so in the end, rather than hang.
  template <class Done>
  void expect(std::unique_lock<std::mutex>& lock, Done done, int number) {
    if (changed_.wait_for(lock, std::chrono::seconds(60), done)) return;
    for (const int missing : awaited_)
      ADD_FAILURE() << order_.name(missing) << " waits for " << order_.name(number);
    awaited_.clear();
  }

  const Order& order_;
  const int slow_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> runs_;  ///< by operation, begun
  std::set<int> ended_, awaited_;
  bool launched_ = false;
};

/// The parts of an iteration, each of which is a trace.
struct Iteration {
  std::vector<std::function<void()>> parts;
  template <class Part>
  Iteration(Part part) : parts{part} {}  // NOLINT: the whole of it
  Iteration(std::initializer_list<std::function<void()>> all) : parts(all) {}
};

/// Makes its regions and tasks, and calls the other function with an iteration.
using Iterate = std::function<void(const Iteration&)>;
using Program = std::function<void(Context&, Watch&, const Iterate&)>;

void check_with(const Order& order, int slow, int workers, const Program& program) {
  SCOPED_TRACE("slow: " + order.name(slow) + ", workers: " + std::to_string(workers));
  Watch watch(order, slow);
  Options options;
  options.machine = "emulated:cpus=4";
  options.workers = workers;
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    std::deque<Trace> traces;
    program(ctx, watch, [&](const Iteration& iteration) {
      while (traces.size() < iteration.parts.size()) traces.emplace_back("part");
      for (int t = 0; t < kIterations; ++t)
        for (std::size_t i = 0; i < iteration.parts.size(); ++i)
          if (t > 0 && t < kIterations - 1) ctx.trace(traces[i], iteration.parts[i]);
          else iteration.parts[i]();
      watch.all_launched();
      ctx.fence();
    });
  });
  EXPECT_GE(runtime.counters().replays, std::uint64_t{kIterations - 4});
  std::size_t bodies = 0;
  for (int i = 0; i < order.size(); ++i) bodies += order.has_body(i) ? 1 : 0;
  EXPECT_EQ(watch.ended(), bodies);
}

/// Each operation in turn is slow, in the middle of the replays, and in the last.
void check(const std::vector<Operation>& operations, const Program& program) {
  const Order order(operations);
  for (const int iteration : {4, kIterations - 4, kIterations - 2})
    for (int i = 0; i < order.per_iteration(); ++i)
      for (const int workers : {2, 3})
        if (const int slow = iteration * order.per_iteration() + i;
            order.has_body(slow) && !testing::Test::HasFailure())
          check_with(order, slow, workers, program);
}

constexpr Field<double> state{"state"}, flux{"flux"};
constexpr int kTiles = 4;

/// Which tile of one point each this is.
template <class A>
int tile_of(const A& access) {
  return static_cast<int>(access.domain().bounds().lo[0]);
}

std::vector<Operation> tiles(const std::string& name,
                             const std::function<std::vector<Touch>(Coord)>& touches) {
  std::vector<Operation> all;
  for (Coord i = 0; i < kTiles; ++i) all.push_back({name + " " + std::to_string(i), touches(i)});
  return all;
}

std::vector<Operation> operator+(std::vector<Operation> a, const std::vector<Operation>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(TraceOverlap, Chains) {
  check(tiles("step",
              [](Coord i) {
                return std::vector<Touch>{{"state", i, i, true}};
              }),
        [](Context& ctx, Watch& watch, const Iterate& iterate) {
          const Task step{"step", [&](ReadWrite<double> x) { watch.run(tile_of(x)); }};
          const auto cells = ctx.region(Rect1{0, kTiles - 1}, state);
          const auto owned = ctx.blocks(cells, kTiles);
          iterate([&] { ctx.launch(step, kTiles, owned[state]); });
        });
}

// What iteration t + 1 does to a tile waits for its neighbours in iteration t, and for nobody else.
TEST(TraceOverlap, AHalo) {
  const auto smoothing = tiles("smooth", [](Coord i) {
    return std::vector<Touch>{{"flux", i, i, true}, {"state", i - 1, i + 1, false}};
  });
  const auto adding = tiles("add", [](Coord i) {
    return std::vector<Touch>{{"state", i, i, true}, {"flux", i, i, false}};
  });
  check(smoothing + adding, [](Context& ctx, Watch& watch, const Iterate& iterate) {
    const Task smooth{"smooth", [&](ReadWrite<double> y, Read<double>) { watch.run(tile_of(y)); }};
    const Task add{"add",
                   [&](ReadWrite<double> x, Read<double>) { watch.run(kTiles + tile_of(x)); }};
    const auto cells = ctx.region(Rect1{0, kTiles - 1}, state, flux);
    const auto owned = ctx.blocks(cells, kTiles);
    const auto ghost = ctx.halo(owned, 1);
    iterate([&] {
      ctx.launch(smooth, kTiles, owned[flux], ghost[state]);
      ctx.launch(add, kTiles, owned[state], owned[flux]);
    });
  });
}

// What all read and nobody writes joins nothing; what is written once an iteration joins all.
TEST(TraceOverlap, AReaderSharedByAll) {
  for (const bool written : {false, true}) {
    SCOPED_TRACE(written ? "written in every iteration" : "written before");
    auto operations = tiles("use", [](Coord i) {
      return std::vector<Touch>{{"state", i, i, true}, {"flux", 0, 0, false}};
    });
    if (written) operations.push_back({"set", {{"flux", 0, 0, true}}});
    check(operations, [written](Context& ctx, Watch& watch, const Iterate& iterate) {
      const Task use{"use", [&](ReadWrite<double> x, Read<double>) { watch.run(tile_of(x)); }};
      const Task set{"set", [&](Write<double>) { watch.run(kTiles); }};
      const auto cells = ctx.region(Rect1{0, kTiles - 1}, state);
      const auto shared = ctx.region(Rect1{0, 0}, flux);
      const auto owned = ctx.blocks(cells, kTiles);
      ctx.fill(shared, flux, 1.0);
      iterate([&] {
        ctx.launch(use, kTiles, owned[state], shared[flux]);
        if (written) ctx.launch(set, shared[flux]);
      });
    });
  }
}

TEST(TraceOverlap, APipelineOfSingleLaunches) {
  check({{"make", {{"a", 0, 0, true}}},
         {"change", {{"a", 0, 0, false}, {"b", 0, 0, true}}},
         {"take", {{"b", 0, 0, false}, {"c", 0, 0, true}}},
         {"alone", {{"d", 0, 0, true}}}},
        [](Context& ctx, Watch& watch, const Iterate& iterate) {
          const Task make{"make", [&](Write<double>) { watch.run(0); }};
          const Task change{"change", [&](Read<double>, Write<double>) { watch.run(1); }};
          const Task take{"take", [&](Read<double>, Write<double>) { watch.run(2); }};
          const Task alone{"alone", [&](ReadWrite<double>) { watch.run(3); }};
          const auto a = ctx.region(Rect1{0, 0}, state), b = ctx.region(Rect1{0, 0}, state);
          const auto c = ctx.region(Rect1{0, 0}, state), d = ctx.region(Rect1{0, 0}, state);
          iterate([&] {
            ctx.launch(make, a[state]);
            ctx.launch(change, a[state], b[state]);
            ctx.launch(take, b[state], c[state]);
            ctx.launch(alone, d[state]);
          });
        });
}

// A reducing body waits for nobody who uses the sum; its fold does, and so do those after it.
TEST(TraceOverlap, AReduction) {
  auto operations = std::vector<Operation>();
  for (int i = 0; i < kTiles; ++i) {
    operations.push_back({"add " + std::to_string(i), {{"state", i, i, false}}});
    operations.push_back({"fold " + std::to_string(i), {{"sum", 0, 0, true}}, 2 * i});
  }
  for (Coord i = 0; i < kTiles; ++i)
    operations.push_back(
        {"use " + std::to_string(i), {{"state", i, i, true}, {"sum", 0, 0, false}}});
  check(operations, [](Context& ctx, Watch& watch, const Iterate& iterate) {
    const Task add{"add", [&](Reduce<Sum, double>, Read<double> x) { watch.run(2 * tile_of(x)); }};
    const Task use{"use",
                   [&](ReadWrite<double> x, Read<double>) { watch.run(2 * kTiles + tile_of(x)); }};
    const auto cells = ctx.region(Rect1{0, kTiles - 1}, state);
    const auto sum = ctx.region(Rect1{0, 0}, flux);
    const auto owned = ctx.blocks(cells, kTiles);
    ctx.fill(sum, flux, 0.0);
    iterate([&] {
      ctx.launch(add, kTiles, sum[flux], owned[state]);
      ctx.launch(use, kTiles, owned[state], sum[flux]);
    });
  });
}

// Traces in turn overlap as the parts of one do.
TEST(TraceOverlap, TwoTracesInTurn) {
  const auto smoothing = tiles("smooth", [](Coord i) {
    return std::vector<Touch>{{"flux", i, i, true}, {"state", i - 1, i + 1, false}};
  });
  const auto adding = tiles("add", [](Coord i) {
    return std::vector<Touch>{{"state", i, i, true}, {"flux", i, i, false}};
  });
  check(smoothing + adding, [](Context& ctx, Watch& watch, const Iterate& iterate) {
    const Task smooth{"smooth", [&](ReadWrite<double> y, Read<double>) { watch.run(tile_of(y)); }};
    const Task add{"add",
                   [&](ReadWrite<double> x, Read<double>) { watch.run(kTiles + tile_of(x)); }};
    const auto cells = ctx.region(Rect1{0, kTiles - 1}, state, flux);
    const auto owned = ctx.blocks(cells, kTiles);
    const auto ghost = ctx.halo(owned, 1);
    iterate({[&] { ctx.launch(smooth, kTiles, owned[flux], ghost[state]); },
             [&] { ctx.launch(add, kTiles, owned[state], owned[flux]); }});
  });
}

// What comes after nothing of the trace before it, but of the one before that.
TEST(TraceOverlap, ThreeTracesOfWhichOneIsApart) {
  check({{"make", {{"a", 0, 0, true}}},
         {"alone", {{"d", 0, 0, true}}},
         {"take", {{"a", 0, 0, false}, {"b", 0, 0, true}}}},
        [](Context& ctx, Watch& watch, const Iterate& iterate) {
          const Task make{"make", [&](Write<double>) { watch.run(0); }};
          const Task alone{"alone", [&](ReadWrite<double>) { watch.run(1); }};
          const Task take{"take", [&](Read<double>, Write<double>) { watch.run(2); }};
          const auto a = ctx.region(Rect1{0, 0}, state), b = ctx.region(Rect1{0, 0}, state);
          const auto d = ctx.region(Rect1{0, 0}, state);
          iterate({[&] { ctx.launch(make, a[state]); }, [&] { ctx.launch(alone, d[state]); },
                   [&] { ctx.launch(take, a[state], b[state]); }});
        });
}

// A task outside comes after one of a replay that is just ending: whichever thread finds that it has ended
// tells the owner so before it sleeps. (What the thread does then depends on a few instructions, so many
// times.)
TEST(TraceOverlap, WithWhatComesAfter) {
  const Task count{"count", [](ReadWrite<double> x) {
                     volatile int some = 0;
                     for (auto n = static_cast<std::int64_t>(x[0]) * 7919 % 4000; some < n;)
                       some = some + 1;
                     x[0] += 1;
                   }};
  const Task look{"look", [](Write<double> y, Read<double> x) { y[0] = x[0]; }};
  constexpr Field<double> counted{"counted"}, seen{"seen"};
  Options options;
  options.workers = 4;
  options.machine = "emulated:cpus=4";
  Runtime(options).run([&](Context& ctx) {
    const Trace trace{"counting"};
    const auto cell = ctx.region(Rect1{0, 0}, counted, seen);
    ctx.fill(cell, counted, 0.0);
    double times = 0;
    for (TestBudget budget{500'000}; budget.more(); budget.next()) {
      ctx.trace(trace, [&] { ctx.launch(count, cell[counted]); });
      ctx.launch(look, cell[seen], cell[counted]);
      ctx.fence();
      ++times;
    }
    EXPECT_EQ(ctx.access<Read>(cell[seen])[0], times);
  });
}

}  // namespace
}  // namespace refrain::test::trace_overlap_test
