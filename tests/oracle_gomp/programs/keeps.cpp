// Threads of teams keep something for themselves from one region to the next: threadprivate variables, filled by copyin
// or by what was in them before.

#include <omp.h>

#include <cstdio>

namespace {
long mine = 0;
#pragma omp threadprivate(mine)
thread_local int calls = 0;
}  // namespace

int main() {
  long all = 0, most = 0;
  for (int step = 0; step < 12; ++step) {
    mine = step;
#pragma omp parallel copyin(mine)
    mine += omp_get_thread_num();
#pragma omp parallel reduction(+ : all) reduction(max : most)
    {
      all += mine + ++calls;
      most = calls;
    }
  }
  std::printf("%ld %ld\n", all, most);
}
