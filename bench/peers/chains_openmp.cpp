// The chains with OpenMP's `task depend(inout)`. Compiled twice: for GCC's libgomp and for LLVM's
// libomp. One thread issues inside a `single` region and helps to execute at its waits; the others
// execute. With one thread both libraries run most tasks at once, where they are created.

#include <vector>

#include "peers/chains.hpp"

namespace {

struct alignas(64) Cell {
  char value;
};

void run(const peer::Chains& work, std::vector<Cell>& cells, int threads) {
  [[maybe_unused]] Cell* const cell = cells.data();  // g++ does not count a depend clause as use
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    for (std::int64_t g = 0; g < work.graphs; ++g) {
      for (int s = 0; s < work.steps; ++s) {
        for (int i = 0; i < work.chains; ++i) {
#pragma omp task depend(inout : cell[i]) firstprivate(cell, i)
          {}
        }
      }
    }
#pragma omp taskwait
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = peer::threads_of(argc, argv);
  std::vector<Cell> cells;
  return peer::serve_chains(
      [&](const peer::Chains& work) { cells.resize(static_cast<std::size_t>(work.chains)); },
      [&](const peer::Chains& work) { run(work, cells, threads); });
}
