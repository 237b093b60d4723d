// Teams of 4 and 2 threads take turns, 100 times. Prints of how many threads of the kernel there were, and how many of
// the calls by the third and fourth thread saw what the same thread of the last team of 4 had left in its threadprivate
// variable.

#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <set>

namespace {
int left = -1;
#pragma omp threadprivate(left)
}  // namespace

int main() {
  std::set<pid_t> threads;
  int same = 0;
  for (int turn = 0; turn < 100; ++turn) {
#pragma omp parallel num_threads(4)
    {
#pragma omp critical
      {
        threads.insert(gettid());
        same += omp_get_thread_num() > 1 && left == omp_get_thread_num();
      }
      left = omp_get_thread_num();
    }
#pragma omp parallel num_threads(2)
#pragma omp critical
    threads.insert(gettid());
  }
  std::printf("%zu threads, %d found again\n", threads.size(), same);
}
