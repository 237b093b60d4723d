#pragma once
// The outer shell of an application: both command lines (Refrain's flags and its own), --help that lists
// both, and errors as one line and an exit status. The program inside says whether its check passed.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <thread>

#include "refrain/options.hpp"

namespace apps {

/// Threads that issue or execute: the workers and the launching thread.
inline int threads_of(const refrain::Options& options) {
  if (options.schedule) return 1;
  if (options.workers >= 0) return options.workers + 1;
  const unsigned cores = std::thread::hardware_concurrency();
  return cores > 0 ? static_cast<int>(cores) : 1;
}

/// The exit status: 0 when `program` returned true (its check passed).
inline int run_program(CLI::App& flags, int argc, char** argv,
                       const std::function<bool(const refrain::Options&)>& program) {
  try {
    const refrain::Options options = refrain::parse_options(argc, argv);
    flags.footer("\nFlags of the runtime:\n" + refrain::flags_help());
    if (options.help) {
      std::fputs(flags.help().c_str(), stdout);
      return 0;
    }
    flags.parse(argc, argv);
    return program(options) ? 0 : 1;
  } catch (const CLI::ParseError& error) {
    return flags.exit(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", flags.get_name().c_str(), error.what());
    return 1;
  }
}

}  // namespace apps
