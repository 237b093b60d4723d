// What libgomp does for a team is asked here by functions that the library does not stand before: cancellation, doacross
// loops, loops of tasks, task reductions. One kind to a run, in teams of one thread, alone and each within a team of two.

#include <omp.h>

#include <atomic>
#include <cstdio>
#include <cstring>

namespace {

long cancelled() {
  long sum = 0;
#pragma omp parallel num_threads(1) shared(sum)
  {
    sum += 1;
#pragma omp cancel parallel
    sum += 100;
  }
  return sum;
}

long cancelled_behind_a_barrier() {
  long sum = 0;
#pragma omp parallel num_threads(1) shared(sum)
  {
#pragma omp barrier
    sum += 1;
#pragma omp cancel parallel if (sum > 5)
  }
  return sum;
}

long doacross() {
  long sum = 0;
#pragma omp parallel num_threads(1) shared(sum)
  {
#pragma omp for ordered(1) schedule(dynamic)
    for (int i = 0; i < 10; ++i) {
#pragma omp ordered depend(sink : i - 1)
      sum += i;
#pragma omp ordered depend(source)
    }
  }
  return sum;
}

long loop_of_tasks() {
  std::atomic<long> others{0}, done{0};
#pragma omp parallel num_threads(1)
  {
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 20; ++i) {
      ++done;
      if (omp_get_thread_num() != 0 || omp_get_num_threads() != 1) ++others;
    }
  }
  return 1000 * others + done;
}

long task_reduction() {
  long sum = 0;
#pragma omp parallel num_threads(1) shared(sum)
  {
#pragma omp for reduction(task, + : sum) schedule(dynamic)
    for (int i = 0; i < 10; ++i) sum += i;
  }
  return sum;
}

}  // namespace

int main(int, char** argv) {
  const struct {
    const char* name;
    long (*function)();
  } kinds[] = {{"cancel", cancelled},
               {"barrier", cancelled_behind_a_barrier},
               {"doacross", doacross},
               {"taskloop", loop_of_tasks},
               {"reduction", task_reduction}};
  omp_set_max_active_levels(4);
  for (const auto& kind : kinds) {
    if (std::strcmp(kind.name, argv[1]) != 0) continue;
    long alone = 0, within = 0;
    for (int call = 0; call < 50; ++call) {
      alone += kind.function();
#pragma omp parallel num_threads(2) reduction(+ : within)
      within += kind.function();
    }
    std::printf("%s %ld %ld\n", kind.name, alone, within);
  }
}
