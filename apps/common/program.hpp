#pragma once
// The outer shell of an application: both command lines (Refrain's flags and its own), --help that lists
// both, and errors as one line and an exit status. The program inside says whether its check passed.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "checks.hpp"
#include "progress.hpp"
#include "refrain/runtime.hpp"

namespace apps {

/// How many threads issue or execute, the launching one included: "2 threads", "2 threads on each of 3 ranks".
inline std::string threads_of(const refrain::Options& options) {
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  if (options.workers >= 0) threads = options.workers + 1;
  if (options.schedule || threads < 1) threads = 1;
  const unsigned ranks = refrain::processes().ranks;
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
         (ranks == 1 ? "" : " on each of " + std::to_string(ranks) + " ranks");
}

/// For options that count things.
inline CLI::Validator at_least(long long least) {
  return {[least](const std::string& text) {
            long long number = 0;
            const bool read = CLI::detail::lexical_cast(text, number);
            return read && number >= least
                       ? std::string()
                       : "has to be at least " + std::to_string(least) + ", is " + text;
          },
          ""};
}
inline CLI::Validator at_least_one() { return at_least(1); }

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
  /// The end of the line about Refrain: its threads, and what it has gained. Seconds of both.
  void print_gain(const refrain::Options& options, double sequential, double parallel) const {
    const std::string threads = threads_of(options);
    if (no_sequential) std::printf("  (%s)\n", threads.c_str());
    else
      std::printf("  (%s, %.2f times the sequential speed)\n", threads.c_str(),
                  sequential / parallel);
  }
};

/// Runs what an application launches. Its runtime starts with the first run, so that neither plain loops
/// before that nor a wrong command line meet its threads.
class Runner {
 public:
  explicit Runner(refrain::Options options) : options_(std::move(options)) {}
  [[nodiscard]] const refrain::Options& options() const { return options_; }

  /// What `program(context, progress)` returns.
  template <class Program>
  auto run(const char* name, std::int64_t steps, Program program) {
    Progress progress(name, steps);
    std::invoke_result_t<Program, refrain::Context&, Progress&> outcome;
    if (runtime_ == nullptr) runtime_ = std::make_unique<refrain::Runtime>(options_);
    runtime_->run([&](refrain::Context& context) { outcome = program(context, progress); });
    return outcome;
  }

  /// Throws refrain::Error when one of them cannot be written.
  void write_reports() {
    if (runtime_ != nullptr) runtime_->write_reports();
  }

 private:
  refrain::Options options_;
  std::unique_ptr<refrain::Runtime> runtime_;
};

/// The exit status: 0 when `program` returned true (its check passed) and all reports were written.
inline int run_program(CLI::App& flags, int argc, char** argv,
                       const std::function<bool(Runner&)>& program) {
  try {
    const refrain::Options options = refrain::parse_options(argc, argv);
    flags.footer("\n" + refrain::flags_help());
    if (options.help) {
      std::fputs(flags.help().c_str(), stdout);
      return 0;
    }
    flags.parse(argc, argv);
    refrain::connect_processes(options);  // what is printed comes from one rank
    Runner runner(options);
    const bool right = program(runner);
    std::fflush(stdout);
    runner.write_reports();
    return right ? 0 : 1;
  } catch (const CLI::ParseError& error) {
    return flags.exit(error);
  } catch (const std::bad_alloc&) {
    refrain::report_error(flags.get_name() + ": not enough memory for a problem of this size");
    return 1;
  } catch (const std::exception& error) {
    refrain::report_error(flags.get_name() + ": " + error.what());
    return 1;
  }
}

}  // namespace apps
