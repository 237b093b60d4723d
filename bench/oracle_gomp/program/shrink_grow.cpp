// Teams of two sizes that take turns, each with nothing to do:  shrink_grow LARGE SMALL TURNS
// Prints the seconds for all turns.

#include <omp.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

void team(int threads) {
#pragma omp parallel num_threads(threads)
  asm volatile("" ::: "memory");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int large = std::atoi(argv[1]), small = std::atoi(argv[2]), turns = std::atoi(argv[3]);
  for (int i = 0; i < 10; ++i) team(large), team(small);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < turns; ++i) team(large), team(small);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f s\n", took.count());
}
