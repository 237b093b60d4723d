// What automatic tracing gains where something repeats, and what it costs where nothing does.
//   autotrace_stencil, _circuit, _s3d_like, _jacobi   the automatic tracing paper's Figures 6 and 7: iterations per
//     second in the steady state, with tasks of three sizes (size, small to large): untraced, manual (the
//     application's own marks) and auto (without them); to_manual and to_untraced, goals at least 0.98; and
//     iterations and calls before the steady state, goal at most the larger of 10 iterations and 500 calls
//   autotrace_streams   streams that are hard on it, with bodies of 10 us on two threads and with empty ones on one
//     (size: nanoseconds of a body): nanoseconds per launch with it and without, the ratio, goal at most 1.1 with
//     10 us; mining_share, of the processors' time, goal at most 0.05 where nothing repeats; bytes_per_launch, by
//     which memory grows in the later part of a long stream
//   autotrace_lengths   loops of 50, 500 and 5,000 launches (size) on one thread, empty bodies: nanoseconds per launch in
//     the steady state; to_500, of the longest, goal at most 1.1: throughput does not fall as traces get longer; and of
//     50, 300, 1,000 and 5,000 on one thread and two the calls before the steady state, goal as for applications
//   autotrace_defaults   the parameters' defaults beside others, on the tests' streams of programs and on streams that
//     little can be made of (with --all, or --only defaults): time with each setting and without automatic tracing, the
//     share that is replayed
//
// All variants of an application, each run in a process of its own, and both of a stream are measured in one run, repetition
// by repetition in turn.
// With one thread medium and large tasks are measured with --all only, and everything more often.

#include <algorithm>

#include "autotrace/measure.hpp"

int main(int argc, char** argv) {
  using namespace refrain::bench;
  Options options = parse_options(
      argc, argv, "Traces that are found: applications, and streams without any.", 6, 2);
  if (options.all) options.reps = std::max(options.reps, 15);
  Records records;
  measure_applications(options, records);
  measure_streams(options, records);
  measure_lengths(options, records);
  if (options.all || !options.only.empty()) measure_defaults(options, records);
  records.write(options.out);
  return 0;
}
