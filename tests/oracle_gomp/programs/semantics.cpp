// An OpenMP program that checks, in several rounds, that regions do what OpenMP says, whatever number of threads they
// get. Prints what is wrong, and ends with 1 then.

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

extern "C" {
void GOMP_parallel_start(void (*function)(void*), void* data, unsigned threads);
void GOMP_parallel_end();
}

namespace {

std::atomic<int> failures{0};

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("line %d: not so: %s\n", __LINE__, #condition); \
      ++failures;                                                 \
    }                                                             \
  } while (false)

/// Each iteration of a loop of 1000 has to come once.
struct Once {
  std::vector<int> counts = std::vector<int>(1000, 0);
  bool all() const {
    return std::ranges::all_of(counts, [](int n) { return n == 1; });
  }
};

void loops() {
  Once fixed, dynamic, guided, runtime, monotonic, inner, ordered;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 1000; ++i) ++fixed.counts[i];
#pragma omp parallel for schedule(dynamic, 3)
  for (int i = 0; i < 1000; ++i) ++dynamic.counts[i];
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < 1000; ++i) ++guided.counts[i];
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < 1000; ++i) ++runtime.counts[i];
#pragma omp parallel for schedule(monotonic : dynamic, 2)
  for (int i = 0; i < 1000; ++i) ++monotonic.counts[i];
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 1000; ++i) ++inner.counts[i];
  }
  int last = -1;
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = 0; i < 1000; ++i) {
#pragma omp ordered
    {
      ++ordered.counts[i];
      if (last != i - 1) ++failures;
      last = i;
    }
  }
  CHECK(fixed.all() && dynamic.all() && guided.all() && runtime.all());
  CHECK(monotonic.all() && inner.all() && ordered.all());
}

void reductions() {
  long sum = 0;
  int most = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : most)
  for (int i = 1; i <= 1000; ++i) sum += i, most = std::max(most, i * 7 % 1000);
  CHECK(sum == 500500 && most == 999);
  long tasks = 0;
#pragma omp parallel reduction(task, + : tasks)
  {
#pragma omp single
    for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : tasks)
      ++tasks;
    }
  }
  CHECK(tasks == 100);
}

void sections() {
  int a = 0, b = 0, c = 0;
#pragma omp parallel sections
  {
#pragma omp section
    ++a;
#pragma omp section
    ++b;
#pragma omp section
    ++c;
  }
  CHECK(a == 1 && b == 1 && c == 1);
}

int fibonacci(int n) {
  if (n < 2) return n;
  int a = 0, b = 0;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

void tasks() {
  int result = 0;
#pragma omp parallel
#pragma omp single
  result = fibonacci(12);
  CHECK(result == 144);
}

void critical_sections() {
  long plain = 0, named = 0;
  int threads = 0;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
    for (int i = 0; i < 100; ++i) {
#pragma omp critical
      ++plain;
#pragma omp critical(a_name)
      ++named;
    }
  }
  CHECK(plain == 100 * threads && named == 100 * threads);
}

/// What a region says of its team is so, and is at most what was asked for.
void teams() {
  const int asked = omp_get_max_threads();
  std::vector<int> seen(static_cast<std::size_t>(asked), 0);
  int threads = 0, after = 0;
#pragma omp parallel
  {
    ++seen[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp barrier
#pragma omp master
    threads = omp_get_num_threads();
#pragma omp barrier
    if (threads != omp_get_num_threads()) ++failures;
#pragma omp atomic
    ++after;
  }
  CHECK(threads >= 1 && threads <= asked && after == threads);
  CHECK(std::ranges::count(seen, 1) == threads);
  CHECK(omp_get_max_threads() == asked && omp_get_level() == 0);

  int explicit_size = 0, serial = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  explicit_size = omp_get_num_threads();
#pragma omp parallel if (asked < 0)
#pragma omp single
  serial = omp_get_num_threads();
  CHECK(explicit_size == 3 && serial == 1);

  omp_set_num_threads(2);
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  CHECK(threads <= 2);
  omp_set_num_threads(asked);
}

void nested() {
  std::atomic<int> inner{0};
  int outer = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    ++outer;
#pragma omp parallel num_threads(3)
    {
      ++inner;
      if (omp_get_level() != 2 || omp_get_num_threads() != 3) ++failures;
    }
  }
  CHECK(outer == 2 && inner == 6);
  omp_set_max_active_levels(1);
}

int mine = 1;
#pragma omp threadprivate(mine)

void thread_private() {
  mine = 42;
  int wrong = 0;
#pragma omp parallel copyin(mine) reduction(+ : wrong)
  {
    wrong += mine != 42;
    mine = omp_get_thread_num();
#pragma omp barrier
    wrong += mine != omp_get_thread_num();
  }
  CHECK(wrong == 0);
}

void exceptions() {
  std::atomic<int> caught{0};
  int threads = 0;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
    try {
#pragma omp critical(thrown_beside)
      threads += 0;
      throw std::runtime_error("inside");
    } catch (const std::runtime_error&) { ++caught; }
  }
  CHECK(caught == threads);
}

/// As compilers before GCC 4.9 wrote a region: it begins, is done here too, and ends.
void begins_and_ends() {
  std::atomic<int> threads{0};
  const auto region = [](void* count) { ++*static_cast<std::atomic<int>*>(count); };
  for (int i = 0; i < 50; ++i) {
    threads = 0;
    GOMP_parallel_start(region, &threads, 0);
    region(&threads);
    const int team = omp_get_num_threads();
    GOMP_parallel_end();
    CHECK(threads == team);
  }
}

void everything() {
  begins_and_ends();
  loops();
  reductions();
  sections();
  tasks();
  critical_sections();
  teams();
  nested();
  thread_private();
  exceptions();
}

}  // namespace

int main() {
  for (int round = 0; round < 20; ++round) everything();
  // Several threads with teams of their own.
  std::vector<std::thread> masters;
  masters.reserve(3);
  for (int i = 0; i < 3; ++i) {
    masters.emplace_back([] {
      for (int round = 0; round < 5; ++round) loops(), tasks(), thread_private();
    });
  }
  for (std::thread& master : masters) master.join();
  if (omp_pause_resource_all(omp_pause_soft) != 0) std::printf("not paused\n"), ++failures;
  everything();
  if (failures == 0) std::printf("all is as OpenMP says\n");
  return failures == 0 ? 0 : 1;
}
