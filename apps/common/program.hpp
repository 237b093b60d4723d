#pragma once
// The outer shell of an application: both command lines (Refrain's flags and its own), --help that lists
// both, and errors as one line and an exit status. The program inside says whether its check passed.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <type_traits>

#include "progress.hpp"
#include "refrain/runtime.hpp"

namespace apps {

/// How many threads issue or execute, the launching one included: "2 threads".
inline std::string threads_of(const refrain::Options& options) {
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  if (options.workers >= 0) threads = options.workers + 1;
  if (options.schedule || threads < 1) threads = 1;
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

/// For options that count things.
inline CLI::Validator at_least_one() {
  return {[](const std::string& text) {
            long long number = 0;
            const bool read = CLI::detail::lexical_cast(text, number);
            return read && number >= 1 ? std::string() : "has to be at least 1, is " + text;
          },
          ""};
}

/// An option that counts something.
template <class T>
CLI::Option* add_count(CLI::App& app, const char* name, T& count, const char* what) {
  return app.add_option(name, count, what)->check(at_least_one())->capture_default_str();
}

/// Whether the program runs beside its sequential twin, which it does unless asked otherwise.
struct Comparison {
  bool only_sequential = false;
  bool no_sequential = false;

  void add_flags(CLI::App& app, const char* only, const char* no) {
    auto* flag = app.add_flag("--sequential", only_sequential, only);
    app.add_flag("--no-sequential", no_sequential, no)->excludes(flag);
  }
};

/// "passed" or "FAILED".
inline const char* verdict(bool right) { return right ? "passed" : "FAILED"; }

/// What `program(context, progress)` returns, run by a runtime of its own.
template <class Program>
auto run_on_refrain(const refrain::Options& options, const char* name, std::int64_t steps,
                    Program program) {
  Progress progress(name, steps);
  std::invoke_result_t<Program, refrain::Context&, Progress&> outcome;
  refrain::Runtime runtime(options);
  runtime.run([&](refrain::Context& context) { outcome = program(context, progress); });
  return outcome;
}

/// The exit status: 0 when `program` returned true (its check passed).
inline int run_program(CLI::App& flags, int argc, char** argv,
                       const std::function<bool(const refrain::Options&)>& program) {
  try {
    const refrain::Options options = refrain::parse_options(argc, argv);
    flags.footer("\n" + refrain::flags_help());
    if (options.help) {
      std::fputs(flags.help().c_str(), stdout);
      return 0;
    }
    flags.parse(argc, argv);
    return program(options) ? 0 : 1;
  } catch (const CLI::ParseError& error) {
    return flags.exit(error);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: not enough memory for a problem of this size\n",
                 flags.get_name().c_str());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", flags.get_name().c_str(), error.what());
    return 1;
  }
}

}  // namespace apps
