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
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "base/json.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "machine/machine.hpp"
#include "map/guarded_process.hpp"
#include "map/pictures.hpp"
#include "map/program_runs.hpp"
#include "map/search_space.hpp"
#include "map/simulations.hpp"
#include "map_search/evaluations.hpp"
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
      "runs in {}\n",
      space.tasks.size(), space.arguments.size(), result.size, grouped(counts.proposed),
      grouped(counts.evaluated), grouped(counts.failed), grouped(counts.runs),
      short_duration(result.spent));
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
  if (result.start && result.start->measured.outcome == map_search::Outcome::ok)
    text += fmt::format(", {:.2f} times as fast",
                        result.start->measured.value(objective) / best.measured.value(objective));
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

/// A folder that is gone in the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = (fs::temp_directory_path() / "refrain-map-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr)
      throw Error(fmt::format("no temporary folder can be made as {}", path_));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// The captured program: read, or captured now by running the program.
capture::Program program_of(const Request& request, const TemporaryFolder& folder) {
  if (!request.capture.empty()) return capture::load(request.capture);
  if (request.program.empty())
    throw InputError("a program is needed, or a captured one by --capture FILE");
  const std::string file = folder.file("captured.json"), errors = folder.file("errors");
  const map::Ending ending =
      map::run_guarded({request.program, map::environment_with({"--refrain:capture=" + file}),
                        folder.file("output"), errors},
                       request.timeout);
  const std::string& name = request.program.front();
  if (ending.is_late)
    throw Error(name + " took longer than --timeout allows, while it was captured");
  if (ending.status != 0)
    throw Error(fmt::format("{} ended without success, while it was captured: {}", name,
                            JsonFile::read(errors, "standard error")));
  if (!fs::exists(file) || fs::file_size(file) == 0)
    throw Error(name + " has written no captured program: is it one of Refrain?");
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
    options.finalists = request.candidates;
    options.limits.progress = nullptr;  // the course is that of the runs
  }
  return map_search::search(
      search.space, evaluator,
      search.database && !request.simulate_first ? &*search.database : nullptr, options);
}

/// Runs decide among these.
map_search::Result among(const std::vector<map_search::Candidate>& candidates,
                         map_search::Evaluator& evaluator, Search& search) {
  map_search::Database* const database = search.database ? &*search.database : nullptr;
  const map_search::Options& options = search.options;
  map_search::Evaluations evaluations(search.space, evaluator, database, options.limits);
  map_search::Result result;
  evaluations.evaluate(map_search::starting_point(search.space));
  for (const map_search::Candidate& candidate : candidates) evaluations.evaluate(candidate.mapping);
  result.start = evaluations.measured(map_search::starting_point(search.space));
  result.finalists = evaluations.best(options.finalists);
  if (options.final_runs > 0 && !evaluations.stopped())
    result.finalists = evaluations.compare(result.finalists, options.final_runs);
  result.failures = evaluations.failures();
  result.counts = evaluations.counts();
  result.spent = evaluations.spent();
  result.size = map_search::size(search.space);
  return result;
}

map_search::Result by_runs(const capture::Program& program, const Machine& machine,
                           const Request& request, Search& search, const TemporaryFolder& folder) {
  std::set<std::string> tasks;
  for (const map_search::Task& task : search.space.tasks) tasks.insert(task.name);
  for (const capture::Call& call : program.calls)
    if (call.kind == capture::CallKind::launch) tasks.insert(program.tasks[call.task].name);
  map::ProgramRuns runs(request.program,
                        [&](const map_search::Mapping& mapping) {
                          return map::mapping_file(search.space, mapping, "proposed");
                        },
                        tasks, {request.timeout, folder.file("runs")});
  if (!request.simulate_first)
    return map_search::search(search.space, runs, search.database ? &*search.database : nullptr,
                              search.options);
  return among(by_simulation(program, machine, request, search).finalists, runs, search);
}

std::string json_of(const Search& search, const map_search::Result& result) {
  using Json = nlohmann::ordered_json;
  const map_search::Objective objective = search.options.limits.objective;
  const map_search::Counts& counts = result.counts;
  Json json{{"tasks", search.space.tasks.size()},
            {"arguments", search.space.arguments.size()},
            {"mappings", result.size},
            {"proposed", counts.proposed},
            {"evaluated", counts.evaluated},
            {"failed", counts.failed},
            {"runs", counts.runs},
            {"seconds", result.spent}};
  if (result.start) json["start"] = result.start->measured.value(objective);
  json["best"] = Json::array();
  for (const map_search::Candidate& candidate : result.finalists)
    json["best"].push_back(Json{{"value", candidate.measured.value(objective)},
                                {"mapping", map_search::text(search.space, candidate.mapping)}});
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

void find_mapping(const Request& request) {
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
  if (!simulates && request.program.empty())
    throw InputError("a program is needed, or --simulate MACHINE");
  if (!request.output.empty()) fs::create_directories(request.output);
  if (!request.machine.empty()) {
    const char* const before = std::getenv("REFRAIN_ARGS");
    const std::string all = (before != nullptr ? std::string(before) + " " : "") +
                            "--refrain:machine " + request.machine;
    setenv("REFRAIN_ARGS", all.c_str(), 1);
  }

  std::optional<Machine> described;
  if (simulates) described = machine::load(request.simulate);
  const TemporaryFolder folder;
  const capture::Program program = program_of(request, folder);
  const Machine machine =
      described ? *described
                : machine::parse_json(program.machine, "the machine of the captured run");
  search.space = map::search_space(program, machine, request.tasks);
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
  options.limits.stop = [] { return stopped != 0; };
  const auto stop = [](int) { stopped = 1; };
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
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
  auto request = std::make_shared<Request>();
  found->add_option("--algorithm", request->algorithm,
                    "ccd, cd, ensemble, random, annealing or exhaustive (ccd)");
  found->add_option("--budget", request->budget,
                    "time for the search, such as 10m (until it ends)");
  found->add_option("--runs", request->runs, "of each mapping (7)")->check(CLI::PositiveNumber);
  found->add_option("--final", request->final,
                    "best mappings that are compared at the end, and runs of each (5x30)");
  found->add_option("--rotations", request->rotations, "of ccd (5)")->check(CLI::PositiveNumber);
  found->add_option("--simulate", request->simulate,
                    "a machine: nothing is run, all is simulated on it");
  found
      ->add_option("--candidates", request->candidates,
                   "mappings that simulations propose with --simulate-first (20)")
      ->check(CLI::PositiveNumber);
  found->add_option("--timeout", request->timeout, "seconds that a run may take (no limit)")
      ->check(CLI::NonNegativeNumber);
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
