// A thread of the team has a locale of its own from the first region on, and the next one asks each for its own.

#include <locale.h>
#include <omp.h>
#include <clocale>
#include <cstdio>
#include <cstdlib>

int main() {
  const locale_t wide = newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
  int sizes[64] = {};
  for (int call = 0; call < 12; ++call) {
#pragma omp parallel
    if (omp_get_thread_num() == 1 && wide != nullptr) uselocale(wide);
  }
#pragma omp parallel
  sizes[omp_get_thread_num() % 64] = static_cast<int>(MB_CUR_MAX);
  for (const int size : sizes) std::printf("%d ", size);
}
