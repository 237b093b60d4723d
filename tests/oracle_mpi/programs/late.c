/* Uses MPI only through a library that it loads itself, for itself: as Python's modules do. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*const run)(void) = module ? (int (*)(void))dlsym(module, "run") : NULL;
  if (!run) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  return run();
}
