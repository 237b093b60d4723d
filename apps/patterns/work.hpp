#pragma once
// What a task does: it checks all that it was given, computes for a while, and leaves its output. Shared by the program on
// Refrain, the sequential one and those by hand in MPI and OpenMP, so that all compute the same bits.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "digest.hpp"
#include "pattern.hpp"

namespace patterns {

enum class Kernel : std::uint8_t {
  compute,    ///< rounds in registers
  memory,     ///< rounds through a part of the task's own scratch memory
  imbalance,  ///< as `compute`, a random number of rounds
};

/// What all tasks of a program do.
struct Work {
  Kernel kernel = Kernel::compute;
  std::int64_t iterations = 0;  ///< rounds of the kernel
  double imbalance = 1;  ///< width of the range of a random number of rounds, of `iterations`
  int cells = 1;         ///< of a task's output
  std::int64_t scratch = 1 << 13;  ///< doubles of the kernel `memory`, per task
};

/// A piece of a task's output. All of one task are equal.
struct Cell {
  std::int32_t step;
  std::int32_t task;
  std::uint64_t digest;

  bool operator==(const Cell&) const = default;
};

[[noreturn]] inline void fail_input(const Cell& cell, int step, int task) {
  throw std::runtime_error("a task was to read step " + std::to_string(step) + ", task " +
                           std::to_string(task) + ", and read step " + std::to_string(cell.step) +
                           ", task " + std::to_string(cell.task));
}

/// The sum of the digests of some tasks' outputs, which lie one after another. Throws unless all of them are of that step.
inline std::uint64_t check_inputs(const Cell* cells, Tasks tasks, int step, int per_task) {
  std::uint64_t sum = 0;
  for (int task = tasks.first; task <= tasks.last; ++task) {
    const std::uint64_t digest = cells->digest;
    for (int i = 0; i < per_task; ++i, ++cells)
      if (*cells != Cell{step, task, digest}) [[unlikely]]
        fail_input(*cells, step, task);
    sum += digest;
  }
  return sum;
}

/// Never inlined, so that every system runs the same instructions: inlined into different loops its time varied by a
/// factor of two.
[[gnu::noinline]] inline double compute_rounds(double start, std::int64_t rounds) {
  constexpr int lanes = 16;
  double a[lanes];
  for (int k = 0; k < lanes; ++k) a[k] = start + 1e-3 * k;
  for (std::int64_t i = 0; i < rounds; ++i)
    for (int k = 0; k < lanes; ++k) a[k] = a[k] * 0.999 + 0.001;
  double sum = 0;
  for (const double value : a) sum += value;
  return sum / lanes;
}

/// Each round goes through the next sixteenth of the scratch memory.
[[gnu::noinline]] inline double memory_rounds(std::span<double> scratch, int step,
                                              std::int64_t rounds) {
  const std::size_t part = scratch.size() / 16;
  double* first = scratch.data();
  for (std::int64_t i = 0; i < rounds; ++i) {
    first = scratch.data() + static_cast<std::size_t>((step * rounds + i) % 16) * part;
    for (std::size_t k = 0; k < part; ++k) first[k] += 1;
  }
  return *first;
}

/// Works, and writes the output. `sum`: of the digests of the task's inputs. `scratch` is used by the kernel `memory` alone.
inline void run_task(const Work& work, int graph, int step, int task, std::uint64_t sum,
                     std::span<double> scratch, Cell* output) {
  const std::uint64_t place =
      static_cast<std::uint64_t>(step) << 32 | static_cast<std::uint32_t>(task);
  const std::uint64_t inputs = scramble(sum + place);
  const double start = static_cast<double>(inputs >> 11) * 0x1p-53;
  double result = 0;
  switch (work.kernel) {
    case Kernel::compute: result = compute_rounds(start, work.iterations); break;
    case Kernel::memory: result = memory_rounds(scratch, step, work.iterations); break;
    case Kernel::imbalance: {
      const double part =
          1 + (uniform(static_cast<std::uint64_t>(graph), 0, place) - 0.5) * work.imbalance;
      result = compute_rounds(start, std::llround(part * static_cast<double>(work.iterations)));
      break;
    }
  }
  const Cell cell{step, task, inputs ^ std::bit_cast<std::uint64_t>(result)};
  for (int i = 0; i < work.cells; ++i) output[i] = cell;
}

}  // namespace patterns
