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
#include <memory>
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
#include "map_report.hpp"
#include "map_search/diverse.hpp"
#include "map_search/search.hpp"
#include "refrain/error.hpp"

namespace refrain::tools {
namespace {

namespace fs = std::filesystem;
using map_search::Algorithm;

struct SearchRequest {
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

Algorithm algorithm_of(const SearchRequest& request) {
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
double budget_of(const SearchRequest& request) {
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

std::pair<std::size_t, std::size_t> final_of(const SearchRequest& request) {
  std::size_t mappings = 0, runs = 0;
  char rest = 0;
  if (std::sscanf(request.final.c_str(), "%zux%zu%c", &mappings, &runs, &rest) != 2 ||
      mappings > 1000 || runs > 100'000)
    wrong("--final", "MAPPINGSxRUNS such as 5x30", request.final);
  return {mappings, runs};
}

/// Of the runtime, for each run of the program.
std::vector<std::string> flags_of(const SearchRequest& request) {
  if (request.machine.empty()) return {};
  return {"--refrain:machine=" + request.machine};
}

/// The captured program: read, or captured now by running the program.
capture::Program program_of(SearchRequest& request, const map::TemporaryFolder& folder) {
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

/// A search and what it needs.
struct Search {
  map_search::Options options;
  map_search::Space space;
  std::optional<map_search::Database> database;
  std::function<void(const map_search::Progress&)> simulating;  ///< before runs decide
};

map_search::Result by_simulation(const capture::Program& program, const Machine& machine,
                                 const SearchRequest& request, Search& search) {
  simulate::Simulation simulation;
  simulation.machine = machine;
  simulation.costs = request.costs;
  map::Simulations evaluator(program, search.space, std::move(simulation));
  map_search::Options options = search.options;
  // Simulations are all alike: one run says everything. And they are cheap.
  options.limits.runs = 1;
  options.by_gain = true;
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
                           const SearchRequest& request, Search& search,
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
std::string evaluated_by(const SearchRequest& request, const Machine& machine) {
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

void write_results(const SearchRequest& request, const Search& search,
                   const map_search::Result& result, const Course& course) {
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
        map::draw_search(
            search.space.program, search.options.limits.objective,
            {{request.simulate_first ? "simulations first" : request.algorithm, course.points()}}),
        "picture of the search");
}

void find_mapping(SearchRequest& request) {
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

  ProgressLine line(search.space, options.limits.budget, options.limits.objective);
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
  const SearchReport report{search.space, result, options.limits.objective};
  const std::string told = request.json ? report.json() : report.text();
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
  auto request = std::make_shared<SearchRequest>();
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
