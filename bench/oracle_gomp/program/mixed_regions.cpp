// An OpenMP program with a dozen kinds of parallel regions from 1 us to 10 ms (with one thread): computation, memory,
// dynamic loops, critical sections, and functions that are called with little and with much to do. Of what mix, and how
// often, the command line says.
//
//   mixed_regions MIX STEPS     MIX: small, even or large
//
// Prints the seconds that the steps took, after one that is not counted, and a checksum.

#include <omp.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

std::vector<double> cells;  // 16 MiB
std::vector<double>
    results;  // one for each iteration of a loop, so that they do not depend on the threads
double in_critical = 0;
long passed = 0;

double work(int n, double x) {
  for (int i = 0; i < n; ++i) x = x * 0.999 + 1.0 / (1.0 + x);
  return x;
}

/// `count` iterations of about 0.1 us * `each`.
[[gnu::noinline]] void compute(int count, int each) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; ++i) results[i] = work(each * 16, i);
}

[[gnu::noinline]] void compute_dynamic(int count, int each) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < count; ++i) results[i] = work(each * 16 * (1 + i % 3), i);
}

/// Reads and writes `count` cells.
[[gnu::noinline]] void stream(int count) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; ++i) cells[i] = cells[i] * 0.5 + 1;
}

[[gnu::noinline]] double sum(int count) {
  double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
  for (int i = 0; i < count; ++i) total += cells[i];
  return total;
}

/// Little beside a critical section: more threads only wait for each other.
[[gnu::noinline]] void contend(int count) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; ++i) {
    const double x = work(1, i);
#pragma omp critical(total)
    {
      in_critical += x;
      ++passed;
    }
  }
}

/// Much beside a critical section.
[[gnu::noinline]] void collect(int count, int each) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < count; ++i) {
    const double x = work(each * 16, i);
#pragma omp critical(collected)
    in_critical += x;
  }
}

struct Mix {
  const char* name;
  int tiny, little, middle, large;  ///< how often in a step
};
constexpr Mix mixes[] = {{"small", 400, 60, 4, 1}, {"even", 100, 30, 8, 1}, {"large", 8, 4, 4, 2}};

void step(const Mix& mix) {
  for (int i = 0; i < mix.tiny; ++i) {  // 1 to 5 us
    compute(8, 1);
    stream(4000);
    compute_dynamic(8, 2);
  }
  for (int i = 0; i < mix.little; ++i) {  // 10 to 60 us
    contend(400);
    compute(32, 4);
    stream(50000);
    collect(16, 20);
  }
  for (int i = 0; i < mix.middle; ++i) {  // 100 us to 1 ms
    compute_dynamic(64, 8);
    compute(128, 32);
    stream(1000000);
    in_critical += sum(400000);
  }
  for (int i = 0; i < mix.large; ++i) {  // 2 to 10 ms
    compute(1024, 96);
    compute_dynamic(256, 64);
    contend(20000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Mix* chosen = nullptr;
  for (const Mix& mix : mixes) {
    if (argc == 3 && std::strcmp(argv[1], mix.name) == 0) chosen = &mix;
  }
  if (!chosen) {
    std::fprintf(stderr, "usage: mixed_regions small|even|large STEPS\n");
    return 2;
  }
  cells.assign(2 << 20, 1);
  results.assign(1 << 16, 0);
  step(*chosen);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = std::atoi(argv[2]); i > 0; --i) step(*chosen);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f s, checksum %.6g %ld\n", took.count(),
              std::accumulate(results.begin(), results.end(), 0.0), passed);
}
