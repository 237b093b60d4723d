#pragma once
// What a program or its user can choose about the runtime. A program fills in an Options and gives it to
// Runtime; `refrain::run` takes it from the command line and the environment by parse_options.
//
// Flags are written `--refrain:NAME VALUE` or `--refrain:NAME=VALUE`. A flag whose value may be left out
// (`[=...]` in --help) takes it after `=`, or as the next word when that word is `on` or `off`.
// The environment variable REFRAIN_ARGS holds flags in the same form, separated by blanks; '...' and
// "..." quote, a backslash takes the next character as it is. The command line wins over REFRAIN_ARGS.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace refrain {

/// The build's default for Options::check: true in the debug preset.
[[nodiscard]] bool checks_by_default() noexcept;

struct Options {
  /// Worker threads beside the launching thread; -1: one fewer than the machine has cpus. 0 is allowed:
  /// then the launching thread runs the tasks while it waits.
  int workers = -1;
  /// Most operations (tasks, copies, ...) in flight per context, at least 1; a launch beyond it waits.
  std::size_t window = 8192;
  /// Empty: this machine as found. "emulated:gpus=2,...": the short form. Otherwise a JSON file.
  std::string machine;
  /// The mapper by name; "default" is the only one so far.
  std::string mapper = "default";
  /// A file with rules that say where tasks run and their data lies (docs/mapping.md); they take the place of any mapper
  /// of the program (empty: none).
  std::string mapping;
  /// Write to this file, as such rules, where tasks ran and their data lay (empty: do not).
  std::string write_mapping;
  /// Write the run's calls, and how long its tasks took, to this file, for simulations and searches (empty: do not).
  std::string capture;
  /// Run everything interleaved on one thread, in the order that this seed decides.
  std::optional<std::uint64_t> schedule;
  /// Check every access against its region's bounds and its task's privileges.
  bool check = checks_by_default();
  /// Print counters at exit...
  bool stats = false;
  /// ...or write them to this file as JSON instead (empty: print).
  std::string stats_file;
  /// Write the timeline as Chrome trace events to this file (empty: do not).
  std::string timeline;
  /// Write the executed task graph as Graphviz to this file (empty: do not).
  std::string graph;
  /// Write what is recorded of traces to this file, in graph calculus (empty: do not).
  std::string graph_calculus;
  /// Explain to PREFIX.txt and PREFIX.json what was replayed, and what was analysed and why (empty: do not).
  std::string explain;
  /// Record and replay traces, whether marked or found.
  bool tracing = true;
  /// Leave out, of a recording's edges, those that others imply.
  bool trace_optimize = true;
  /// Most operations of a recording; a longer trace is cut into several.
  std::size_t trace_length = 1'000'000;
  /// Most bytes for recordings, per context; beyond them, those not used for longest go.
  std::size_t trace_memory = std::size_t{1} << 30;
  /// Find traces where the program has marked none.
  bool autotrace = true;
  /// Least work of a trace that is found: calls, a launch as often as it has points.
  std::size_t autotrace_min_length = 16;
  /// Most calls of one, also where that is less than the fewest; what repeats is cut into such pieces. 0: there is
  /// no limit.
  std::size_t autotrace_max_length = 0;
  /// Calls that are remembered: loops up to half as long are found.
  std::size_t autotrace_history = 16384;
  /// Repeats are looked for among the last so many calls, twice, four times ... as many, after as much work.
  std::size_t autotrace_sample = 64;
  /// Write what automatic tracing does to this file, as JSON lines (empty: do not).
  std::string autotrace_log;
  /// Record the program's stream of calls to this file, for warm starts and for the tool `refrain` (empty: do not).
  std::string record;
  /// Look for what repeats in this file, which an earlier run has recorded, before anything has come (empty: do not).
  std::string warm_start;
  /// Which of the tasks that are ready runs first. The result is the same.
  enum class Order : std::uint8_t {
    local,  ///< a thread goes on with what its last task has made ready; others take what has been ready for longest
    fifo,   ///< a thread, too, runs first what it has made ready first
    path,  ///< as fifo, but of what one task makes ready in a replay first the one with the longest path of others
           ///< behind it, as long as the first replays took
  };
  Order order = Order::local;
  /// Of several processes that run the program together: whose standard output and reports there are. Files of reports
  /// have the rank in their names, but for those of rank 0.
  enum class Output : std::uint8_t { first, all };
  Output output = Output::first;
  /// Of the same: whether they make the same calls is looked at after so many calls; 0: it is not, and no process waits
  /// for one that is far behind.
  std::size_t check_determinism = 1024;
  /// Of the same: the run ends when one of them waits for so many seconds; 0: it may. A run in which all wait for each
  /// other ends anyway.
  std::uint64_t hang_after = 0;
  /// What the analysis of one shard costs, measured in one process: it runs as this shard of so many (0: as it was
  /// started), without the others. Only with `dry`, and both together.
  struct Shard {
    std::uint32_t number = 0, of = 0;
  };
  Shard shard;
  /// Until its first fence the program's context is as in one process, so that partitions by value can be made. Then tasks
  /// do nothing and return zeros, messages are dropped, and those awaited are zeros: nothing of that is true.
  bool dry = false;
  /// The command line asked for help (`--help` or `--refrain:help`). `refrain::run` then prints
  /// flags_help() and runs nothing; a program with flags of its own prints both.
  bool help = false;
};

/// Takes the runtime's flags out of REFRAIN_ARGS and argv. Flags found in argv are removed from it; the
/// program's own arguments, `--help` and everything from a lone `--` on are left alone, in order; argv
/// keeps its closing null pointer. Throws InputError for an unknown flag (with the nearest name) and for
/// a bad value (what was expected, what was found, and whether it came from argv or REFRAIN_ARGS).
/// After an error argv may have lost the flags before the bad one.
Options parse_options(int& argc, char** argv);

/// The list of runtime flags for a `--help` text, one flag per line with its default.
std::string flags_help();

}  // namespace refrain
