// Gas dynamics on an unstructured mesh, after PENNANT: command line and report. See README.md.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../common/program.hpp"
#include "check.hpp"
#include "openmp.hpp"
#include "parallel.hpp"
#include "picture.hpp"
#include "sequential.hpp"

namespace {

using namespace pennant;

struct CommandLine {
  std::string deck = "sedov";
  std::vector<Index> zones;
  MeshKind mesh = MeshKind::rect;
  std::uint64_t seed = 1;
  Index chunk = 512;
  int cycles = 0;   // 0: as many as the deck says
  int threads = 0;  // 0: as many as Refrain has
  bool openmp = false, trace = false;
  std::string gold, picture;
  apps::Comparison comparison;
};

void add_flags(CLI::App& app, CommandLine& line) {
  auto* deck = app.add_option("--deck", line.deck, "a .pnt file, or one of sedovsmall, sedov, noh")
                   ->capture_default_str();
  auto* zones = app.add_option("--zones", line.zones,
                               "NX,NY: so many zones, with a blast (rect) or an implosion")
                    ->delimiter(',')
                    ->expected(2)
                    ->check(CLI::Range(Index{2}, Index{1} << 13))
                    ->excludes(deck);
  const std::map<std::string, MeshKind> kinds{
      {"rect", MeshKind::rect}, {"hex", MeshKind::hex}, {"random", MeshKind::random}};
  app.add_option("--mesh", line.mesh, "of these zones: rect, hex or random")
      ->transform(CLI::CheckedTransformer(kinds))
      ->default_str("rect")
      ->needs(zones);
  app.add_option("--seed", line.seed, "of the random mesh")->capture_default_str();
  apps::add_count(app, "--chunk", line.chunk, "sides, or points, of a chunk");
  app.add_option("--cycles", line.cycles, "instead of those of the deck")
      ->check(apps::at_least_one());
  app.add_flag("--openmp", line.openmp, "run the twin with OpenMP, too");
  app.add_option("--threads", line.threads, "of OpenMP; if left out, as many as Refrain has")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--trace", line.trace, "record a cycle, and replay it");
  app.add_option("--gold", line.gold, "compare with this file of results (.xy.std)");
  app.add_option("--picture", line.picture, "draw the density as this PNG")
      ->check([](const std::string& file) {
        const auto folder = std::filesystem::absolute(file).parent_path();
        return std::filesystem::is_directory(folder) ? "" : "there is no folder " + folder.string();
      });
  line.comparison.add_flags(app, "run nothing on Refrain", "leave out the sequential program");
}

// The deck that the command line asks for.
Deck find_deck(const CommandLine& line) {
  Deck deck;
  if (!line.zones.empty()) {
    const Index x = line.zones[0], y = line.zones[1];
    deck = line.mesh == MeshKind::rect ? blast(x, y) : implosion(line.mesh, x, y);
    deck.mesh.seed = line.seed;
  } else if (const auto built_in = built_in_deck(line.deck)) {
    deck = *built_in;
  } else {
    deck = read_deck(line.deck);
  }
  if (line.cycles > 0) deck.time.cycles = line.cycles;
  return deck;
}

void check_flags(const CommandLine& line) {
  if (line.openmp && !has_openmp())
    throw CLI::ValidationError("--openmp", "the program was built without OpenMP");
  if (!line.picture.empty() && !can_draw())
    throw CLI::ValidationError("--picture", "the program was built without what draws");
}

int thread_count(const CommandLine& line, const refrain::Options& options) {
  if (line.threads > 0) return line.threads;
  if (options.workers >= 0) return options.workers + 1;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// The results of the programs that were asked for, and what to compare them with.
class Runs {
 public:
  Runs(const CommandLine& line, const Deck& deck, apps::Runner& runner)
      : line_(line),
        deck_(deck),
        runner_(runner),
        mesh_(make_mesh(deck)),
        chunks_(cut(mesh_, line.chunk)) {}

  bool run() {
    print_size();
    const State start = first_state(deck_, mesh_);
    // Threads of Refrain begin last, so that the others do not meet them.
    if (!line_.comparison.no_sequential) run_sequential();
    if (line_.openmp) run_openmp();
    if (!line_.comparison.only_sequential) run_on_refrain(start);
    return check(start);
  }

 private:
  struct Run {
    const char* name;
    Outcome outcome;
  };

  void print_size() const {
    std::printf(
        "pennant: %s, %d zones, %d sides, %d points, %zu chunks of %d sides, %zu of points\n",
        deck_.name.c_str(), mesh_.zones(), mesh_.sides(), mesh_.nodes(), chunks_.zones.size(),
        line_.chunk, chunks_.points.size());
    std::fflush(stdout);
  }

  void run_sequential() {
    print_speed(add("sequential", pennant::run_sequential(deck_, mesh_)), "1 thread");
  }
  void run_openmp() {
    const int threads = thread_count(line_, runner_.options());
    print_speed(add("openmp", pennant::run_openmp(deck_, mesh_, chunks_, threads)),
                std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
  }
  void run_on_refrain(const State& start) {
    Outcome outcome = runner_.run(
        "pennant", deck_.time.cycles, [&](refrain::Context& ctx, apps::Progress& progress) {
          return run_parallel(ctx, deck_, mesh_, chunks_, start, line_.trace, progress);
        });
    print_speed(add("refrain", std::move(outcome)), apps::threads_of(runner_.options()));
  }

  const Run& add(const char* name, Outcome outcome) {
    runs_.push_back({name, std::move(outcome)});
    return runs_.back();
  }

  // How many times as fast as each earlier run it was stands there, too.
  void print_speed(const Run& run, const std::string& threads) const {
    const Outcome& outcome = run.outcome;
    std::printf("  %-12s %8.3f s  %9.3f million zones/s  (%s", run.name, outcome.seconds,
                static_cast<double>(mesh_.zones()) * outcome.last.cycle / outcome.seconds * 1e-6,
                threads.c_str());
    for (const Run& other : runs_)
      if (&other != &run)
        std::printf(", %.2f times the speed of %s", other.outcome.seconds / outcome.seconds,
                    other.name);
    std::printf(")\n");
    std::fflush(stdout);
  }

  bool check(const State& start) const {
    const Outcome& outcome = runs_.front().outcome;
    std::printf("  cycle %d ends at %.10g; its step of %.6g is that of %s\n", outcome.last.cycle,
                outcome.last.time, outcome.last.dt, limiter_name(outcome.last).c_str());
    bool right = check_energy(deck_, energy_of(mesh_, start), energy_of(mesh_, outcome.state));
    right = check_known(deck_, outcome.state) && right;
    if (!line_.gold.empty()) right = check_gold(line_.gold, outcome.state) && right;
    for (std::size_t i = 1; i < runs_.size(); ++i) right = check_equal(runs_[i]) && right;
    if (!line_.picture.empty()) draw_density(line_.picture, mesh_, outcome);
    return right;
  }
  [[nodiscard]] bool check_equal(const Run& run) const {
    const bool same = equal(run.outcome, runs_.front().outcome);
    std::printf("check %s: points, zones and steps of %s %s those of %s, bit for bit\n",
                apps::verdict(same), run.name, same ? "equal" : "differ from", runs_.front().name);
    return same;
  }

  const CommandLine& line_;
  const Deck& deck_;
  apps::Runner& runner_;
  const Mesh mesh_;
  const Chunks chunks_;
  std::vector<Run> runs_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Gas dynamics on an unstructured mesh of polygons, after PENNANT", "pennant"};
  CommandLine line;
  add_flags(app, line);
  bool wrong_deck = false;
  const int status = apps::run_program(app, argc, argv, [&](apps::Runner& runner) {
    check_flags(line);
    try {
      const Deck deck = find_deck(line);
      return Runs(line, deck, runner).run();
    } catch (const DeckError& error) {
      refrain::report_error(std::string("pennant: ") + error.what());
      wrong_deck = true;
      return false;
    }
  });
  return wrong_deck ? 2 : status;
}
