// A critical section before a fork(), and the same one in the child.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace {

int entered = 0;

void enter() {
#pragma omp critical(shared)
  ++entered;
}

}  // namespace

int main() {
  enter();
  const pid_t child = fork();
  if (child == 0) {
    enter();
    return entered == 2 ? 0 : 1;
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0 && entered == 1 ? 0 : 1;
}
