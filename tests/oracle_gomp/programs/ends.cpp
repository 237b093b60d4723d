// A process that ends in an unusual way: the command line says which.
//   exit    by exit(7) within a region, called by the thread that started it, while the others enter critical sections
//   worker  the same, called by another thread of the team
//   fork    has a child that does regions of its own, in which all of its parent's threads are missing

#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long count = 0;

int work() {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += i;
  return sum;
}

void end_within(int thread) {
  work();
#pragma omp parallel num_threads(3)
  for (int i = 0;; ++i) {
#pragma omp critical
    ++count;
    if (i == 1000 && omp_get_thread_num() == thread) std::exit(7);
  }
}

/// libgomp's own pool does not survive fork(), so the child's regions are another thread's.
void* in_child(void*) {
  for (int i = 0; i < 10; ++i) {
    if (work() != 4950) std::_Exit(1);
  }
  return nullptr;
}

int fork_and_work() {
  for (int i = 0; i < 10; ++i) work();
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, in_child, nullptr) != 0) return 1;
    pthread_join(thread, nullptr);
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 && work() == 4950 ? 0 : 1;
}

}  // namespace

int main(int, char** argv) {
  if (std::strcmp(argv[1], "fork") == 0) return fork_and_work();
  end_within(std::strcmp(argv[1], "worker") == 0 ? 1 : 0);
  return 1;
}
