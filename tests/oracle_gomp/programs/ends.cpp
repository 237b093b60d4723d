// A process that ends in an unusual way: the command line says which.
//   exit    by exit(7) within a region, called by the thread that started it, while the others enter critical sections
//   worker  the same, called by another thread of the team
//   main    main() leaves by pthread_exit() after a team has shrunk: the process ends with its last thread
//   owners  threads that have had teams end, and others have teams, in which all that is thread-local is new; of each
//           such object there has been an end when its owner's has come
//   fork    has a child that does regions of its own, in which all of its parent's threads are missing

#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

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

void shrink() {
  int threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : threads)
  ++threads;
#pragma omp parallel num_threads(2) reduction(+ : threads)
  ++threads;
  if (threads != 6) std::_Exit(1);
}

std::atomic<int> alive{0};
struct Own {
  Own() { ++alive; }
  ~Own() { --alive; }
  int uses = 0;
};
thread_local Own own;

int shrink_in_threads() {
  int wrong = 0;
  for (int i = 0; i < 3; ++i)
    std::thread([&wrong] {
      int uses = 0;
#pragma omp parallel num_threads(4) reduction(+ : uses)
      uses += ++own.uses;
      shrink();
      if (uses != 4) ++wrong;
    }).join();
  // libgomp waits for none of the threads of a team that has ended.
  for (int i = 0; i < 1000 && alive > 0; ++i) usleep(10'000);
  return wrong == 0 && alive == 0 ? 0 : 1;
}

}  // namespace

int main(int, char** argv) {
  if (std::strcmp(argv[1], "main") == 0) {
    shrink();
    pthread_exit(nullptr);
  }
  if (std::strcmp(argv[1], "owners") == 0) return shrink_in_threads();
  if (std::strcmp(argv[1], "fork") == 0) return fork_and_work();
  end_within(std::strcmp(argv[1], "worker") == 0 ? 1 : 0);
  return 1;
}
