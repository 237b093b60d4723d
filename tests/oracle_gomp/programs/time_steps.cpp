// A simulation whose time step is found by hand: an array that is sized by omp_get_max_threads(), once, in which each
// thread of a team fills its own entry, and a minimum over all entries, which are numbers of nobody before. A step has
// 32 parallel regions of about as many kinds, most of them loops with a static schedule, as explicit hydrodynamics has.
//
//   time_steps ELEMENTS STEPS     some 4 ns for each element and region
//
// Prints the seconds that the steps took, and, as the bits say it, the time that has passed and a sum of the state.

#include <omp.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

struct Mesh {
  explicit Mesh(int elements) : size(elements), x(size, 1), v(size, 0), e(size, 1) {
    for (int i = 0; i < size; ++i) e[i] = 1.0 + i % 7 * 0.125;
  }
  int size;
  std::vector<double> x, v, e;
};

template <int Kind>
[[gnu::noinline]] void sweep(Mesh& mesh, double dt) {
  const int size = mesh.size;
  double* const x = mesh.x.data();
  double* const v = mesh.v.data();
  double* const e = mesh.e.data();
#pragma omp parallel for firstprivate(size, dt)
  for (int i = 0; i < size; ++i) {
    double a = e[i] + Kind;
    for (int k = 0; k < 3; ++k) a = 0.5 * (a + e[i] / (1 + a * a));
    v[i] = 0.99 * v[i] + dt * a;
    x[i] += dt * v[i];
    e[i] = 1 + 0.5 / (1 + x[i] * x[i]);
  }
}

/// Two loops in one region, without a barrier between them.
[[gnu::noinline]] void boundary(Mesh& mesh) {
  const int size = mesh.size;
  double* const v = mesh.v.data();
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < size / 8; ++i) v[i] *= 0.5;
#pragma omp for nowait
    for (int i = size - size / 8; i < size; ++i) v[i] *= 0.5;
  }
}

/// The array of the threads' minima: what is in it before is what was in the memory.
double* minima(int threads) {
  auto* const entries = static_cast<double*>(std::malloc(sizeof(double) * threads));
  for (int i = 0; i < threads; ++i) entries[i] = 3e-322;
  return entries;
}

[[gnu::noinline]] double courant(const Mesh& mesh) {
  static const int threads = omp_get_max_threads();
  static double* const least = minima(threads);
  const int size = mesh.size;
  const double* const e = mesh.e.data();
#pragma omp parallel firstprivate(size)
  {
    double mine = 1e20;
#pragma omp for
    for (int i = 0; i < size; ++i) {
      const double dt = 1e-3 / (1 + e[i]);
      if (dt < mine) mine = dt;
    }
    least[omp_get_thread_num()] = mine;
  }
  double dt = least[0];
  for (int i = 1; i < threads; ++i) dt = least[i] < dt ? least[i] : dt;
  return dt;
}

/// The same by a loop that does not wait at its end.
[[gnu::noinline]] double hydro(const Mesh& mesh) {
  static const int threads = omp_get_max_threads();
  static double* const least = minima(threads);
  const int size = mesh.size;
  const double* const v = mesh.v.data();
#pragma omp parallel firstprivate(size)
  {
    const int thread = omp_get_thread_num();
    least[thread] = 1e20;
#pragma omp for nowait
    for (int i = 0; i < size; ++i) {
      const double dt = 0.01 / (1e-3 + v[i] * v[i]);
      if (dt < least[thread]) least[thread] = dt;
    }
  }
  double dt = least[0];
  for (int i = 1; i < threads; ++i) dt = least[i] < dt ? least[i] : dt;
  return dt;
}

template <int... Kinds>
void sweeps(Mesh& mesh, double dt, std::integer_sequence<int, Kinds...>) {
  (sweep<Kinds>(mesh, dt), ...);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  Mesh mesh(std::atoi(argv[1]));
  double time = 0, dt = 1e-4;
  const auto begin = std::chrono::steady_clock::now();
  for (int step = std::atoi(argv[2]); step > 0; --step) {
    sweeps(mesh, dt, std::make_integer_sequence<int, 29>());
    boundary(mesh);
    const double least = courant(mesh), other = hydro(mesh);
    dt = least < other ? least : other;
    time += dt;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  double sum = 0;
  for (const double x : mesh.x) sum += x;
  std::printf("%.6f s, time %a, sum %a\n", took.count(), time, sum);
}
