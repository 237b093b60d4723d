// Regions of known names that tell how many threads they get: for each call "NAME SIZE". The command line says which are
// called, in order: a, b, or c, which asks for 4 threads by a clause. No team of it is folded, as its threads have a
// variable of their own.

#include <omp.h>

#include <cstdio>

namespace {
int size_of_team = 0;
}
thread_local int asked = 0;

// Not mangled, and not inlined: the regions are called a._omp_fn.0, b._omp_fn.0 ...
extern "C" {
[[gnu::noinline]] void a() {
#pragma omp parallel
#pragma omp single
  size_of_team = omp_get_num_threads();
}
[[gnu::noinline]] void b() {
#pragma omp parallel
  {
#pragma omp critical(of_b)
    size_of_team = omp_get_num_threads();
  }
}
[[gnu::noinline]] void c() {
#pragma omp parallel num_threads(4)
#pragma omp single
  size_of_team = omp_get_num_threads();
}
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char name = argv[i][0];
    ++asked;
    (name == 'a' ? a : name == 'b' ? b : c)();
    std::printf("%c %d\n", name, size_of_team);
  }
}
