// Memory runs out, anywhere: the n-th allocation of a program fails, that one alone or all from there on. Then the
// program ends with an error, or as if nothing had been; the process, the runtime and the memory of the machine are
// as good as before.

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "refrain/error.hpp"
#include "refrain/refrain.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace {

/// Which allocations fail, of those from its beginning on, whoever makes them.
struct Outage {
  std::atomic<bool> on{false};
  std::atomic<std::uint64_t> made{0}, first{0}, end{0};

  [[nodiscard]] bool hits() {
    if (!on.load(std::memory_order_relaxed)) return false;
    const std::uint64_t number = made.fetch_add(1, std::memory_order_relaxed);
    return number >= first && number < end;
  }
} outage;

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return outage.hits() ? nullptr : std::malloc(size);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto align = static_cast<std::size_t>(alignment);
  return outage.hits() ? nullptr : std::aligned_alloc(align, (size + align - 1) / align * align);
}
void* operator new(std::size_t size) {
  if (void* const memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* const memory = operator new(size, alignment, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace refrain::memory_test {
namespace {

constexpr Field<Coord> x{"x"}, y{"y"};

const Task set{"set", [](Write<Coord> a, Coord value) {
                 for (auto p : a.domain()) a[p] = value;
               }};
const Task add{"add", [](ReadWrite<Coord> a, Read<Coord> b) {
                 for (auto p : a.domain()) a[p] += b[p];
               }};
const Task count{"count", [](Reduce<Sum, Coord> total, Read<Coord> a) {
                   for (auto p : a.domain()) total[0] += a[p];
                 }};
const Task sum{"sum", [](Read<Coord> a) {
                 Coord total = 0;
                 for (auto p : a.domain()) total += a[p];
                 return total;
               }};
const Task twice{"twice", [](Coord value) { return 2 * value; }};
const Task parent{"parent", [](ReadWrite<Coord> a, Context& ctx) {
                    auto halves = ctx.blocks(a.region(), 2);
                    ctx.launch(set, 2, halves[x], 7);
                    ctx.fence();
                    a[a.domain().bounds().lo] += 1;
                  }};

/// Has an owner for each launch that is not over.
const auto held = std::make_shared<Coord>(1);
const Task scale{"scale", [](ReadWrite<Coord> a, Coord by, const std::shared_ptr<Coord>& one) {
                   for (auto p : a.domain()) a[p] = (a[p] % 1000) * by + *one;
                 }};

/// A bit of everything.
Coord program(Context& ctx) {
  static Coord memory[16];  // outlives the program, which may end by an exception
  auto cells = ctx.region(Rect1{0, 15}, x, y);
  auto total = ctx.region(Rect1{0, 0}, x);
  auto blocks = ctx.blocks(cells, 4);
  auto halos = ctx.halo(blocks, 1);
  ctx.fill(cells, y, Coord{1});
  ctx.fill(total, x, Coord{0});
  ctx.attach(cells, x, memory);
  ctx.launch(set, 4, blocks[x], 2);
  ctx.launch(parent, cells[x]);
  const Trace loop("loop");
  for (int i = 0; i < 4; ++i) {
    const Future<Coord> by = ctx.launch(twice, Coord{i});
    ctx.trace(loop, [&] {
      ctx.launch(add, 4, blocks[y], blocks[x]);
      ctx.launch(count, 4, total[x], halos[y]);
      ctx.launch(add, 4, blocks[x], blocks[y]);
      ctx.launch(scale, 4, blocks[x], by, held);
    });
  }
  ctx.copy(cells[x], cells[y]);
  const auto sums = ctx.launch(sum, 4, blocks[y]);
  const Future<Coord> all = ctx.reduce(sums, Sum{});
  const Future<Coord> doubled = ctx.launch(twice, all);
  Coord result = 0;
  {
    auto values = ctx.access<ReadWrite>(total[x]);
    values[0] += 1;
    result = values[0];
  }
  ctx.detach(cells, x);
  ctx.destroy(cells);
  return result + doubled.get();
}

enum class Ended { well, with_a_name, without };

/// What an outage from an allocation on does to f().
template <class F>
Ended end_of(std::uint64_t first, std::uint64_t length, F f) {
  outage.first = first;
  outage.end = length > ~first ? ~std::uint64_t{0} : first + length;
  outage.made = 0;
  outage.on = true;
  std::string text;
  Ended ended = Ended::well;
  try {
    f();
    outage.on = false;
  } catch (const Error& error) {
    outage.on = false;
    ended = Ended::with_a_name;
    text = error.what();
  } catch (const std::bad_alloc&) {
    outage.on = false;
    ended = Ended::without;
  }
  if (ended == Ended::with_a_name) {
    EXPECT_NE(text.find("_test.cpp:"), std::string::npos) << text;
  }
  return ended;
}

/// From the first allocation of the program to the first that is not made any more.
void sweep(const Options& options, std::uint64_t length, std::uint64_t step) {
  Runtime runtime(options);
  Coord expected = 0;
  runtime.run([&](Context& ctx) { expected = program(ctx); });
  std::uint64_t ends[3] = {};
  for (std::uint64_t first = 0; !testing::Test::HasFailure(); first += step) {
    Coord result = 0;
    const Ended ended =
        end_of(first, length, [&] { runtime.run([&](Context& ctx) { result = program(ctx); }); });
    if (ended == Ended::well) { EXPECT_EQ(result, expected) << "allocation " << first; }
    ++ends[static_cast<int>(ended)];
    if (outage.made <= first) break;
    test::expect_usable(runtime);
    EXPECT_EQ(runtime.counters().futures_alive, 0U) << "allocation " << first;
    EXPECT_EQ(held.use_count(), 1) << "allocation " << first;
  }
  // Of the outages of one allocation, most are met by a call of the context.
  if (length == 1) {
    EXPECT_GT(ends[static_cast<int>(Ended::with_a_name)],
              10 * ends[static_cast<int>(Ended::without)]);
  }
}

std::uint64_t step_of(std::uint64_t usual) {
  const char* all = std::getenv("REFRAIN_TEST_EVERY_ALLOCATION");
  return all != nullptr ? std::strtoull(all, nullptr, 10) : usual;
}

Options with_workers(int workers) {
  Options options = test::small_machine("emulated:cpus=3", workers);
  options.autotrace_min_length = 2;
  return options;
}

Options with_seed() {
  Options options = with_workers(2);
  options.schedule = 7;
  return options;
}

TEST(NoMemory, OnceOnOneThread) { sweep(with_workers(0), 1, step_of(7)); }
TEST(NoMemory, FromThereOnOnOneThread) {
  sweep(with_workers(0), std::numeric_limits<std::uint64_t>::max(), step_of(11));
}
TEST(NoMemory, OnceUnderASeed) { sweep(with_seed(), 1, step_of(23)); }
TEST(NoMemory, FromThereOnUnderASeed) {
  sweep(with_seed(), std::numeric_limits<std::uint64_t>::max(), step_of(29));
}
TEST(NoMemory, OnceOnThreads) { sweep(with_workers(2), 1, step_of(13)); }
TEST(NoMemory, FromThereOnOnThreads) {
  sweep(with_workers(2), std::numeric_limits<std::uint64_t>::max(), step_of(17));
}

// The reports hear of everything, and may find no memory to write it down.
TEST(NoMemory, OnceWithReports) {
  const test::TemporaryFolder folder;
  for (const bool calculus : {false, true}) {
    Options options = with_workers(0);
    options.graph = folder.path("graph.dot");
    options.explain = folder.path("explain.json");
    options.autotrace_log = folder.path("log");
    if (calculus) options.graph_calculus = folder.path("calculus.txt");
    sweep(options, 1, step_of(5));
  }
}

/// The call, as messages name it, in a program that has all that it needs.
struct PartitionCall {
  const char* name;
  std::function<void(Context&, Region<1>, Partition<1>, Partition<1>)> make;
};

// Whatever allocation of a call that makes a partition fails, the error names the call.
TEST(NoMemory, ForPartitions) {
  static constexpr Field<Point<1>> next{"next"};
  static constexpr Field<Rect<1>> reach{"reach"};
  const IndexSpace<1> three(Rect1{0, 2});
  const std::vector<AnyIndexSpace> pieces{IndexSpace<1>(Rect1{0, 6}), IndexSpace<1>(Rect1{7, 11})};
  const PartitionCall calls[] = {
      {"blocks", [](auto& ctx, auto r, auto, auto) { ctx.blocks(r, 3); }},
      {"blocks_of_size", [](auto& ctx, auto r, auto, auto) { ctx.blocks_of_size(r, 5); }},
      {"halo", [](auto& ctx, auto, auto p, auto) { ctx.halo(p, 1); }},
      {"interior", [](auto& ctx, auto, auto p, auto) { ctx.interior(p, 1); }},
      {"restrict_to",
       [&](auto& ctx, auto r, auto, auto) {
         ctx.restrict_to(r, three, {}, Rect1{0, 3});
       }},
      {"partition", [&](auto& ctx, auto r, auto, auto) { ctx.make_explicit(r, pieces); }},
      {"unite", [](auto& ctx, auto, auto p, auto q) { ctx.unite(p, q); }},
      {"by_colour", [](auto& ctx, auto r, auto, auto) { ctx.by_colour(r, y, 3); }},
      {"image", [](auto& ctx, auto r, auto p, auto) { ctx.image(r, p, next); }},
      {"image", [](auto& ctx, auto r, auto p, auto) { ctx.image(r, p, reach); }},
      {"preimage", [](auto& ctx, auto r, auto p, auto) { ctx.preimage(r, p, next); }},
  };
  Runtime runtime(with_workers(0));
  for (const PartitionCall& call : calls) {
    SCOPED_TRACE(call.name);
    for (std::uint64_t first = 0; !testing::Test::HasFailure(); first += step_of(3)) {
      try {
        runtime.run([&](Context& ctx) {
          const auto cells = ctx.region(Rect1{0, 11}, y, next, reach);
          const auto halves = ctx.blocks(cells, 2),
                     shifted = ctx.restrict_to(cells, IndexSpace<1>(Rect1{0, 1}), {}, Rect1{3, 7});
          ctx.fill(cells, y, Coord{1});
          ctx.fill(cells, next, Point<1>{4});
          ctx.fill(cells, reach, Rect1{2, 9});
          ctx.fence();
          outage.first = first;
          outage.end = first + 1;
          outage.made = 0;
          outage.on = true;
          try {
            call.make(ctx, cells, halves, shifted);
            outage.on = false;
          } catch (const OutOfMemory& error) {
            outage.on = false;
            test::expect_words(error.what(), {std::string(call.name) + " at memory_test.cpp:"});
          } catch (const std::exception& error) {
            outage.on = false;
            ADD_FAILURE() << "allocation " << first << ": " << error.what();
          }
        });
      } catch (const OutOfMemory&) {}  // the context's end tells it once more
      if (outage.made <= first) break;
    }
  }
  test::expect_usable(runtime);
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // they need addresses themselves
/// What a child process does that ends itself.
void expect_exit(int expected, void (*act)()) {
  const pid_t child = fork();
  if (child == 0) act();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), expected);
}

// A program that launches until there is nothing left.
[[noreturn]] void use_up_all_addresses() {
  int status = 1;
  try {
    Runtime runtime(with_workers(1));
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit{(pages << 12) + (std::uint64_t{8} << 20), RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    runtime.run([](Context& ctx) {
      std::vector<Region<1>> all;
      for (;;) {
        all.push_back(ctx.region(Rect1{0, 3}, x, y));
        ctx.launch(set, all.back()[x], 1);
        ctx.launch(set, all.back()[y], 1);
        ctx.launch(add, all.back()[y], all.back()[x]);
      }
    });
  } catch (const OutOfMemory& error) {
    status = std::string(error.what()).find("memory_test.cpp:") != std::string::npos ? 0 : 2;
  } catch (const std::bad_alloc&) { status = 0; }  // of the program's own list
  std::_Exit(status);
}

TEST(NoMemory, UnderALimitOnAddresses) { expect_exit(0, use_up_all_addresses); }

// Threads need addresses for their stacks.
[[noreturn]] void start_too_many_threads() {
  const rlimit limit{std::uint64_t{512} << 20, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  int status = 1;
  try {
    const Runtime runtime(with_workers(1000));
  } catch (const Error& error) {
    const std::string text = error.what();
    status = text.find(" of 1000 threads could be started") != std::string::npos &&
                     text.find("ulimit -v") != std::string::npos
                 ? 0
                 : 2;
    if (status != 0) std::fprintf(stderr, "%s\n", text.c_str());
  }
  std::_Exit(status);
}

TEST(NoMemory, ForThreads) { expect_exit(0, start_too_many_threads); }

// A body that ends its thread would leave all others waiting.
[[noreturn]] void end_a_thread_in_a_body() {
  static const Task leave{"leave", [] { pthread_exit(nullptr); }};
  Runtime runtime(with_workers(1));
  runtime.run([](Context& ctx) { ctx.launch(leave); });
  std::_Exit(0);
}

TEST(NoThread, AfterABodyThatEndsIt) {
  testing::internal::CaptureStderr();
  expect_exit(EXIT_FAILURE, end_a_thread_in_a_body);
  test::expect_words(testing::internal::GetCapturedStderr(),
                     {"task 'leave' launched at memory_test.cpp:", "pthread_exit"});
}
#endif

// Threads are made, and memories.
TEST(NoMemory, WhereARuntimeIsMade) {
  for (const std::uint64_t length : {std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()})
    for (std::uint64_t first = 0;; first += step_of(11)) {
      end_of(first, length, [] { Runtime runtime(with_workers(2)); });
      if (outage.made <= first) break;
    }
}

}  // namespace
}  // namespace refrain::memory_test
