// What the runtime itself makes of the oracle.
//   warm_start_stencil, _circuit, _s3d_like, _jacobi   seconds of a whole run with small tasks, with --all medium and
//     large ones, too (size), that starts as ever (cold), with the file of an earlier run (warm), with that of another
//     size (other_size) and of another application (other_program), and that records (recording); to_cold, goals at
//     most 1.01 but for the last; replayed, the share of all calls, goal at least 0.95 where it is warm and the calls
//     are 20 times an iteration's or more
//   order_stencil, ...   iterations per second in the steady state, as ever (local), each thread what it made ready
//     first (fifo) and by the longest path (path); to_local and to_fifo, of the time, goal at most 1.02; and
//     order_uneven and order_uneven_five, the circuit with pieces of sizes 4:1:1:1:1 for each thread and for both, the
//     smallest launched first, goal at most 0.85 of fifo
//   oracle_launch_accuracy (--only accuracy), the applications beside the benchmark, as the target `apps` builds them:
//     percent of the calls, by their names, at the distances 1 to 128 (size) that are predicted right, when a run with
//     each working set (variant) is followed by the recording of the small one; oracle_launch_overhead, of the large
//     one: what recording costs, as calls x the ns that one takes longer / the seconds of the run
//
// All variants of an application, each run in a process of its own, are measured in one run, repetition by repetition in
// turn.

#include "oracle_runtime/measure.hpp"

int main(int argc, char** argv) {
  using namespace refrain::bench;
  const Options options =
      parse_options(argc, argv, "Warm starts and the order of tasks, on the applications.", 5, 2);
  Records records;
  measure_warm_start(options, records);
  measure_order(options, records);
  // No bar judges it.
  if (options.all || !options.only.empty()) measure_accuracy(options, records);
  records.write(options.out);
  return 0;
}
