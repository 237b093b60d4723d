// `refrain map PROGRAM ARGS...`: finds a mapping under which a program is fast.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "machine/machine.hpp"
#include "map/guarded_process.hpp"
#include "map/pictures.hpp"
#include "map/program_runs.hpp"
#include "map/search_space.hpp"
#include "map/simulations.hpp"
#include "map/temporary_folder.hpp"
#include "map_search/diverse.hpp"
#include "map_search/search.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::tools {
namespace {

namespace fs = std::filesystem;
using map_search::Algorithm;

struct Request {
  std::string algorithm = "ccd", budget, final = "5x30", simulate, capture, objective = "time",
              distributions = "paper", output, machine, database, costs, tasks = "*";
  std::size_t runs = 7, rotations = 5, candidates = 20;
  double timeout = 0;
  std::uint64_t seed = 1;
  bool simulate_first = false, json = false;
  std::vector<std::string> program;
};

volatile std::sig_atomic_t stopped = 0;

/// The first signal ends the search after the present run, the second one this process: what was measured stays, and
/// nothing that was started goes on (map/guarded_process.hpp).
void stop_when_told() {
  struct sigaction stop = {};
  stop.sa_handler = [](int) {
    stopped = 1;
    constexpr std::string_view text = "\nstopping after this run; once more ends it at once\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  };
  stop.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &stop, nullptr);
}

[[noreturn]] void wrong(const std::string& flag, const std::string& expected,
                        const std::string& found) {
  throw InputError(fmt::format("{}: expected {}, found '{}'", flag, expected, found));
}

template <class Value>
Value named(const std::string& flag, const std::string& name,
            std::initializer_list<std::pair<const char*, Value>> values) {
  std::string expected;
  for (const auto& [text, value] : values) {
    if (name == text) return value;
    expected += (expected.empty() ? "" : ", ") + std::string(text);
  }
  wrong(flag, "one of " + expected, name);
}

Algorithm algorithm_of(const Request& request) {
  using enum Algorithm;
  return named<Algorithm>("--algorithm", request.algorithm,
                          {{"ccd", ccd},
                           {"cd", cd},
                           {"ensemble", ensemble},
                           {"random", random},
                           {"annealing", annealing},
                           {"exhaustive", exhaustive}});
}

/// "30s", "10m", "2h", or what parse_duration reads.
double budget_of(const Request& request) {
  if (request.budget.empty()) return std::numeric_limits<double>::infinity();
  std::optional<double> seconds = parse_duration(request.budget);
  for (const auto& [unit, factor] : {std::pair{'m', 60.0}, {'h', 3600.0}})
    if (!seconds && request.budget.back() == unit)
      if (const auto number =
              parse_duration(request.budget.substr(0, request.budget.size() - 1) + "s"))
        seconds = *number * factor;
  if (!seconds || !(*seconds > 0))
    wrong("--budget", "a time such as 30s, 10m or 2h", request.budget);
  return *seconds;
}

std::pair<std::size_t, std::size_t> final_of(const Request& request) {
  std::size_t mappings = 0, runs = 0;
  char rest = 0;
  if (std::sscanf(request.final.c_str(), "%zux%zu%c", &mappings, &runs, &rest) != 2 ||
      mappings > 1000 || runs > 100'000)
    wrong("--final", "MAPPINGSxRUNS such as 5x30", request.final);
  return {mappings, runs};
}

/// A line about the search: on a terminal the same one again and again, else a new one now and then.
class ProgressLine {
 public:
  ProgressLine(const map_search::Space& space, double budget, bool is_time)
      : space_(space), budget_(budget), is_time_(is_time) {}
  ~ProgressLine() { end(); }
  void end() {
    if (terminal_ && std::exchange(shown_, false)) std::fputs("\r\033[K", stderr);
  }
  void show(const map_search::Progress& progress) {
    const std::uint64_t now = profile::now_ns();
    constexpr std::uint64_t kSecond = 1'000'000'000;
    if (now < next_) return;
    next_ = now + (terminal_ ? kSecond / 10 : 10 * kSecond);
    shown_ = true;
    std::string line = "best ";
    if (progress.best == nullptr) line += "none yet";
    else if (is_time_) line += short_duration(progress.best->measured.seconds.mean);
    else line += short_size(static_cast<std::uint64_t>(progress.best->measured.bytes.mean));
    line += fmt::format(", {} evaluated", grouped(progress.counts.evaluated));
    if (progress.phase == map_search::Phase::final) line += ", final runs";
    if (std::isfinite(budget_))
      line += fmt::format(", {} left", short_duration(std::max(0.0, budget_ - progress.spent)));
    line += ", trying " + map_search::text(space_, progress.trying);
    constexpr std::size_t kWidth = 110;
    if (line.size() > kWidth) line = line.substr(0, kWidth - 3) + "...";
    if (terminal_) std::fprintf(stderr, "\r\033[K%s", line.c_str());
    else std::fprintf(stderr, "%s\n", line.c_str());
    std::fflush(stderr);
  }

 private:
  const map_search::Space& space_;
  const double budget_;
  const bool is_time_;
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  std::uint64_t next_ = 0;
};

std::string value_text(const map_search::Measurement& measured, map_search::Objective objective) {
  if (measured.outcome != map_search::Outcome::ok)
    return std::string(map_search::name(measured.outcome));
  if (objective == map_search::Objective::bytes)
    return short_size(static_cast<std::uint64_t>(measured.bytes.mean));
  const std::string mean = short_duration(measured.seconds.mean);
  return measured.runs > 1 ? fmt::format("{} (+-{})", mean, short_duration(measured.seconds.spread))
                           : mean;
}

std::string table(const map_search::Space& space, const map_search::Result& result,
                  map_search::Objective objective) {
  const map_search::Counts& counts = result.counts;
  std::string text = fmt::format(
      "{} tasks, {} arguments, {:.3g} mappings; {} proposed, {} evaluated, of these {} failed; {} "
      "runs, those of the search in {}\n",
      space.tasks.size(), space.arguments.size(), result.size, grouped(counts.proposed),
      grouped(counts.evaluated), grouped(counts.failed), grouped(counts.runs),
      short_duration(result.spent));
  if (result.end == map_search::End::budget) text += "  the budget was spent before its end\n";
  if (result.end == map_search::End::stopped)
    text += "  it was stopped; there were no final runs, or not all\n";
  std::map<map_search::Outcome, std::size_t> failures;
  for (const map_search::Candidate& failure : result.failures) ++failures[failure.measured.outcome];
  for (const auto& [outcome, count] : failures) {
    const auto first = std::ranges::find_if(
        result.failures, [&](const auto& failure) { return failure.measured.outcome == outcome; });
    text += fmt::format("  {} {}, the first: {}\n", grouped(count), map_search::name(outcome),
                        first->measured.text);
  }
  if (result.finalists.empty()) return text + "no mapping works\n";
  const map_search::Candidate& best = result.finalists.front();
  if (result.start)
    text += fmt::format("starting point  {}\n", value_text(result.start->measured, objective));
  text += fmt::format("best            {}", value_text(best.measured, objective));
  const double before = result.start ? result.start->measured.value(objective) : 0;
  if (before > 0 && std::isfinite(before)) {
    const double after = best.measured.value(objective);
    text += objective == map_search::Objective::time
                ? fmt::format(", {:.2f} times as fast", before / after)
                : fmt::format(", {:.1f}% of that", 100 * after / before);
  }
  text += "\n\n";
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task) {
    text += fmt::format(
        "{:<28} {:<5} {:<8}", space.tasks[task].name,
        space.processors[best.mapping.processor[task]].name,
        space.tasks[task].group ? space.distributions[best.mapping.distribution[task]] : "");
    for (const std::uint32_t argument : space.arguments_of(task))
      text += fmt::format(" {}:{}", space.arguments[argument].name,
                          space.memories[best.mapping.memory[argument]].name);
    text += "\n";
  }
  return text;
}

/// Of the runtime, for each run of the program.
std::vector<std::string> flags_of(const Request& request) {
  if (request.machine.empty()) return {};
  return {"--refrain:machine=" + request.machine};
}

/// The captured program: read, or captured now by running the program.
capture::Program program_of(Request& request, const map::TemporaryFolder& folder) {
  if (!request.capture.empty()) return capture::load(request.capture);
  std::fprintf(stderr, "capturing %s\n", request.program.front().c_str());
  const std::string file = folder.file("captured.json"), errors = folder.file("errors");
  std::vector<std::string> flags = flags_of(request);
  flags.push_back("--refrain:capture=" + file);
  const map::Ending ending = map::run_guarded(
      {request.program, map::environment_with(flags), folder.file("output"), errors},
      request.timeout);
  const std::string& name = request.program.front();
  if (ending.is_late)
    throw Error(name + " took longer than --timeout allows, while it was captured");
  if (ending.status != 0)
    throw Error(fmt::format(
        "{} ended without success, while it was captured (--capture takes another run): {}", name,
        JsonFile::read(errors, "standard error")));
  if (!fs::exists(file) || fs::file_size(file) == 0)
    throw Error(name + " has written no captured program: is it one of Refrain?");
  // A run that takes so much longer hangs, or is of no use.
  if (request.timeout == 0) request.timeout = 10 + 10 * ending.seconds;
  return capture::load(file);
}

/// The best value so far, for the picture.
class Course {
 public:
  explicit Course(map_search::Objective objective) : objective_(objective) {}
  void note(const map_search::Progress& progress) {
    if (progress.best != nullptr) note(progress.spent, progress.best->measured.value(objective_));
  }
  void note(double seconds, double value) {
    if (points_.empty() || points_.back().second != value) points_.emplace_back(seconds, value);
    last_ = seconds;
  }
  [[nodiscard]] std::vector<std::pair<double, double>> points() const {
    std::vector<std::pair<double, double>> all = points_;
    if (!all.empty() && last_ > all.back().first) all.emplace_back(last_, all.back().second);
    return all;
  }

 private:
  const map_search::Objective objective_;
  std::vector<std::pair<double, double>> points_;
  double last_ = 0;
};

/// A search and what it needs.
struct Search {
  map_search::Options options;
  map_search::Space space;
  std::optional<map_search::Database> database;
  std::function<void(const map_search::Progress&)> simulating;  ///< before runs decide
};

map_search::Result by_simulation(const capture::Program& program, const Machine& machine,
                                 const Request& request, Search& search) {
  simulate::Simulation simulation;
  simulation.machine = machine;
  simulation.costs = request.costs;
  map::Simulations evaluator(program, search.space, std::move(simulation));
  map_search::Options options = search.options;
  // Simulations are all alike: one run says everything.
  options.limits.runs = 1;
  options.final_runs = 0;
  if (request.simulate_first) {
    options.finalists = std::numeric_limits<std::size_t>::max();
    options.limits.progress = search.simulating;  // the course is that of the runs
  }
  return map_search::search(
      search.space, evaluator,
      search.database && !request.simulate_first ? &*search.database : nullptr, options);
}

map_search::Result by_runs(const capture::Program& program, const Machine& machine,
                           const Request& request, Search& search,
                           const map::TemporaryFolder& folder) {
  std::set<std::string> tasks;
  for (const map_search::Task& task : search.space.tasks) tasks.insert(task.name);
  for (const capture::Call& call : program.calls)
    if (call.kind == capture::CallKind::launch) tasks.insert(program.tasks[call.task].name);
  map::ProgramRuns runs(request.program,
                        [&](const map_search::Mapping& mapping) {
                          return map::mapping_file(search.space, mapping, "proposed");
                        },
                        tasks,
                        {.timeout = request.timeout,
                         .folder = folder.file("runs"),
                         .flags = flags_of(request),
                         .tasks_launch_others = std::ranges::any_of(
                             program.tasks, [](const auto& task) { return task.launches; })});
  if (request.simulate_first) {
    const map_search::Result proposed = by_simulation(program, machine, request, search);
    search.options.algorithm = Algorithm::given;
    constexpr double kError = 0.1;  // of simulations (docs/mapping.md, Why it is right)
    for (const map_search::Candidate& candidate :
         map_search::diverse(search.space, proposed.finalists, request.candidates,
                             search.options.limits.objective, kError))
      search.options.given.push_back(candidate.mapping);
    search.options.limits.budget = std::max(0.0, search.options.limits.budget - proposed.spent);
  }
  return map_search::search(search.space, runs, search.database ? &*search.database : nullptr,
                            search.options);
}

std::uint64_t hash_of(const std::string& text) { return hash_bytes(text.data(), text.size()); }

/// Measurements of another command, or of simulations with other costs, are of no use.
std::string evaluated_by(const Request& request, const Machine& machine) {
  std::string all = machine::to_json(machine);
  if (!request.costs.empty()) all += JsonFile::read(request.costs, "costs");
  if (!request.simulate.empty()) return fmt::format(", simulated, {:016x}", hash_of(all));
  std::ifstream program(request.program.front(),
                        std::ios::binary);  // of one in PATH, the name alone
  all.append(std::istreambuf_iterator(program), {});
  for (const std::string& word : request.program) (all += '\0') += word;
  return fmt::format(", run, {:016x}", hash_of(all));
}

/// Others than ccd and cd end when all mappings were run.
void check_size(const map_search::Options& options, const map_search::Space& space) {
  if (map_search::size(space) <= 1)
    throw InputError(
        "there is nothing to choose: the tasks have one kind of processors here, and their data "
        "one kind of memory; "
        "--simulate MACHINE and --machine describe others, such as emulated:gpus=1");
  constexpr double kMost = 1 << 20;
  if (options.algorithm == Algorithm::ccd || options.algorithm == Algorithm::cd ||
      std::isfinite(options.limits.budget) || map_search::size(space) <= kMost)
    return;
  throw InputError(
      fmt::format("--algorithm: there are {:.2g} mappings, which takes too long; expected a "
                  "--budget, fewer --tasks, ccd or cd",
                  map_search::size(space)));
}

std::string json_of(const Search& search, const map_search::Result& result) {
  using Json = nlohmann::ordered_json;
  const map_search::Objective objective = search.options.limits.objective;
  const map_search::Counts& counts = result.counts;
  Json json{{"program", search.space.program},
            {"objective", objective == map_search::Objective::time ? "seconds" : "bytes"},
            {"tasks", search.space.tasks.size()},
            {"arguments", search.space.arguments.size()},
            {"mappings", result.size},
            {"proposed", counts.proposed},
            {"evaluated", counts.evaluated},
            {"failed", counts.failed},
            {"runs", counts.runs},
            {"seconds", result.spent},
            {"end", result.end == map_search::End::done     ? "done"
                    : result.end == map_search::End::budget ? "budget"
                                                            : "stopped"}};
  if (result.start) json["start"] = result.start->measured.value(objective);
  json["best"] = Json::array();
  for (const map_search::Candidate& candidate : result.finalists)
    json["best"].push_back(Json{{"value", candidate.measured.value(objective)},
                                {"spread", candidate.measured.seconds.spread},
                                {"mapping", map_search::text(search.space, candidate.mapping)}});
  json["failures"] = Json::array();
  for (const map_search::Candidate& failure : result.failures)
    json["failures"].push_back(Json{{"outcome", map_search::name(failure.measured.outcome)},
                                    {"text", failure.measured.text},
                                    {"mapping", map_search::text(search.space, failure.mapping)}});
  return json.dump(2) + "\n";
}

void write_results(const Request& request, const Search& search, const map_search::Result& result,
                   const Course& course) {
  const fs::path folder = request.output.empty() ? fs::path(".") : fs::path(request.output);
  const map_search::Candidate& best = result.finalists.front();
  const auto write = [&](const char* name, const std::string& text, const char* what) {
    write_new_file((folder / name).string(), text, what);
    if (!request.json) std::printf("%s\n", (folder / name).c_str());
  };
  if (!request.json) std::printf("\n");
  write("best-mapping.json",
        map::mapping_file(search.space, best.mapping,
                          "found by refrain map for " + search.space.program),
        "mapping");
  write("mapping.svg", map::draw_mapping(search.space.program, search.space, best.mapping),
        "picture of the mapping");
  write("search.svg",
        map::draw_search(search.space.program, search.options.limits.objective,
                         {{request.algorithm, course.points()}}),
        "picture of the search");
}

void find_mapping(Request& request) {
  Search search;
  map_search::Options& options = search.options;
  options.algorithm = algorithm_of(request);
  options.limits.budget = budget_of(request);
  options.limits.objective = named<map_search::Objective>(
      "--objective", request.objective,
      {{"time", map_search::Objective::time}, {"bytes", map_search::Objective::bytes}});
  options.distributions =
      named<map_search::Distributions>("--distributions", request.distributions,
                                       {{"paper", map_search::Distributions::leader_blocked},
                                        {"all", map_search::Distributions::all}});
  options.rotations = request.rotations;
  options.seed = request.seed;
  std::tie(options.finalists, options.final_runs) = final_of(request);
  options.limits.runs = request.runs;
  const bool simulates = !request.simulate.empty();
  if (simulates && request.simulate_first)
    throw InputError("--simulate and --simulate-first: expected one of them");
  if (request.program.empty() && (request.capture.empty() || !simulates))
    throw InputError(
        "a program is needed: refrain map PROGRAM ARGS...; --simulate takes one by --capture FILE, "
        "too");
  if (!request.output.empty()) fs::create_directories(request.output);

  std::optional<Machine> described;
  if (simulates) described = machine::load(request.simulate);
  const map::TemporaryFolder folder(fs::temp_directory_path(), "refrain-map");
  stop_when_told();
  const capture::Program program = program_of(request, folder);
  if (stopped != 0) throw Error("stopped before the search");
  if (!simulates && !request.machine.empty()) described = machine::load(request.machine);
  const Machine machine =
      described ? *described
                : machine::parse_json(program.machine, "the machine of the captured run");
  search.space = map::search_space(program, machine, request.tasks);
  search.space.program += evaluated_by(request, machine);
  check_size(options, search.space);
  if (options.distributions == map_search::Distributions::all)
    search.space.distributions.emplace_back("cyclic");
  std::string database = request.database;
  if (database.empty() && !simulates)
    database = (fs::path(request.output) / "measurements.sqlite").string();
  if (!database.empty()) search.database.emplace(database, search.space);

  ProgressLine line(search.space, options.limits.budget,
                    options.limits.objective == map_search::Objective::time);
  Course course(options.limits.objective);
  options.limits.progress = [&](const map_search::Progress& progress) {
    course.note(progress);
    line.show(progress);
  };
  search.simulating = [&](const map_search::Progress& progress) { line.show(progress); };
  options.limits.stop = [] { return stopped != 0; };
  const map_search::Result result = simulates ? by_simulation(program, machine, request, search)
                                              : by_runs(program, machine, request, search, folder);
  line.end();
  const std::string told = request.json ? json_of(search, result)
                                        : table(search.space, result, options.limits.objective);
  std::fputs(told.c_str(), stdout);
  if (result.finalists.empty()) throw Error("no mapping works");
  course.note(result.spent, result.finalists.front().measured.value(options.limits.objective));
  write_results(request, search, result, course);
}

}  // namespace

void add_map_command(CLI::App& tool, const std::vector<std::string>& command) {
  CLI::App* found = tool.add_subcommand(
      "map", "Find a mapping under which a program is fast: by running it, or by simulating it");
  found->footer("refrain map [OPTIONS] PROGRAM ARGS...");
  auto request = std::make_shared<Request>();
  found->add_option("--algorithm", request->algorithm,
                    "ccd, cd, ensemble, random, annealing or exhaustive (ccd)");
  found->add_option("--budget", request->budget,
                    "time for the search, such as 10m (until it ends)");
  found->add_option("--runs", request->runs, "of each mapping (7)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  found->add_option("--final", request->final,
                    "best mappings that are compared at the end, and runs of each (5x30)");
  found->add_option("--rotations", request->rotations, "of ccd (5)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  found->add_option("--simulate", request->simulate,
                    "a machine: nothing is run, all is simulated on it");
  found
      ->add_option("--candidates", request->candidates,
                   "mappings that simulations propose with --simulate-first (20)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  found
      ->add_option("--timeout", request->timeout,
                   "seconds that a run may take (10 more than ten times as long as the first)")
      ->check(CLI::Range(0.0, 1e9));
  found->add_flag("--simulate-first", request->simulate_first, "simulations propose, runs decide");
  found->add_option("--capture", request->capture, "a captured program, in place of a first run");
  found->add_option("--machine", request->machine, "on which the program runs (this one)");
  found->add_option("--objective", request->objective, "time or bytes (time)");
  found->add_option("--distributions", request->distributions,
                    "paper: blocked or leader; all: cyclic, too (paper)");
  found->add_option("--tasks", request->tasks,
                    "only tasks of such names; the others are mapped by default (*)");
  found->add_option("--seed", request->seed, "of ensemble, random and annealing (1)");
  found->add_option("--database", request->database,
                    "a file with all measurements, from which a search goes on");
  found->add_option("--costs", request->costs,
                    "how long tasks take, where a simulation is not to say so");
  found->add_flag("--json", request->json, "print the result as JSON");
  found->add_option("--output", request->output, "folder for what is written (here)");
  found->allow_extras();
  found->callback([request, found, command] {
    request->program = found->remaining();
    for (const std::string& word : request->program)
      if (word.starts_with("-") && &word == &request->program.front())
        throw InputError("'" + word + "' is no flag of it, and no program");
    request->program.insert(request->program.end(), command.begin(), command.end());
    find_mapping(*request);
  });
}

}  // namespace refrain::tools
