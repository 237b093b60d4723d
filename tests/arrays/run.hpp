#pragma once
// A program of arrays in a runtime of its own.

#include <functional>

#include "refrain/arrays.hpp"

namespace refrain::test {

/// Runs it on 4 cores with a few workers.
inline Counters run_arrays(const std::function<void(arrays::Session&)>& program,
                           const arrays::Settings& settings = {}, Options options = {}) {
  if (options.workers < 0) options.workers = 2;
  if (options.machine.empty()) options.machine = "emulated:cpus=4";
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    arrays::Session np(ctx, settings);
    program(np);
  });
  return runtime.counters();
}

}  // namespace refrain::test
