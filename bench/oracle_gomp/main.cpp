// The preload library for GNU OpenMP: programs with regions of a few microseconds beside others of milliseconds, with
// as many threads as the machine has processors, which is the default, with one, with the paper's thresholds, and with
// sizes that are learned, in the first run after the recorded one and in the second.
//
// The bar: learning takes at most 1.02 times what the best fixed number of threads takes, and less than the default; for
// time steps of regions of some 5, 20 and 100 us, thousands in a second, at most 1.03 times. And how much longer an event
// takes that is followed, or recorded with its time: at most 50 and 60 ns.
// With --all also: more mixes of regions; how that is when unexpected events are put among the program's (Figure 14 of
// PYTHIA), and what it costs when a team shrinks and grows again, with threads that stay alive and with libgomp's.

#include <sys/stat.h>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "oracle_gomp/program_run.hpp"
#include "support/options.hpp"
#include "support/records.hpp"
#include "support/rounds.hpp"

namespace refrain::bench {
namespace {

const int processors = static_cast<int>(std::thread::hardware_concurrency());

Record record(const std::string& system, const std::string& variant, std::int64_t size,
              const std::string& metric, const std::string& unit, Spread value) {
  return {"oracle_gomp", system, variant, system == "one" ? 1 : processors,
          size,          metric, unit,    value};
}

/// A program, and what its run is called in the records.
struct Program {
  std::string name;
  std::string recorded;  ///< the command for the recorded run, which may be shorter
  std::string command;
  std::string settings{};   ///< of the library
  std::string variables{};  ///< of its environment in all runs
};

Spread paired(const std::vector<double>& a, const std::vector<double>& b) {
  const PairedRatio ratio = paired_ratio(a, b);
  return {ratio.median, ratio.low, ratio.high};
}

/// One program, all ways in turn.
void compare(const Program& program, int rounds, Records& records) {
  const TemporaryFile recorded, learned;
  const std::string& settings = program.settings;
  const std::string& variables = program.variables;
  seconds_of(program.recorded, {&recorded, nullptr, settings}, variables);
  seconds_of(program.command, {&learned, &recorded, settings}, variables);
  const auto fixed = [&](const std::string& number) {
    return [&, number] { return seconds_of(program.command, variables + " " + number); };
  };
  const auto beside = [&](const TemporaryFile& reference, const std::string& choice) {
    const Oracle oracle{nullptr, &reference, settings + " " + choice};
    return [&, oracle] { return seconds_of(program.command, oracle, variables); };
  };
  std::vector<Contestant> ways{
      {"one", program.name, fixed("OMP_NUM_THREADS=1")},
      {"default", program.name, fixed("")},
      {"thresholds", program.name, beside(recorded, "REFRAIN_ORACLE_THREADS=thresholds")},
      {"learning", program.name, beside(recorded, "")},
      {"learned", program.name, beside(learned, "")}};
  run_rounds(ways, rounds);
  const Contestant* one = find_finished(ways, "one", program.name);
  const Contestant* all = find_finished(ways, "default", program.name);
  for (const Contestant& way : ways) {
    if (!way.finished() || !one || !all) continue;
    const bool one_is_best = spread(one->samples).median < spread(all->samples).median;
    const Contestant& best = one_is_best ? *one : *all;
    const Spread seconds = spread(way.samples);
    const Spread of_best = paired(way.samples, best.samples);
    const Spread of_default = paired(way.samples, all->samples);
    records.add(record(way.system, program.name, 0, "seconds", "s", seconds));
    records.add(record(way.system, program.name, 0, "of_best_fixed", "ratio", of_best));
    records.add(record(way.system, program.name, 0, "of_default", "ratio", of_default));
    std::printf("%-12s %-10s %7.3f s (%.3f to %.3f)  %.3f of the best fixed, %.3f of the default\n",
                program.name.c_str(), way.system.c_str(), seconds.median, seconds.min, seconds.max,
                of_best.median, of_default.median);
    std::fflush(stdout);
  }
}

/// What following and recording cost an event, in a program with tiny regions; two events in each.
void events(const std::string& time_steps, int rounds, int steps, Records& records) {
  const std::string command = time_steps + "150 " + std::to_string(steps);
  const TemporaryFile reference, recorded;
  for (const int threads : {1, 2}) {
    const std::string variables = "OMP_NUM_THREADS=" + std::to_string(threads);
    seconds_of(time_steps + "150 20", {&reference, nullptr}, variables);
    std::vector<Contestant> ways{
        {"vanilla", "", [&] { return seconds_of(command, variables); }},
        {"library", "", [&] { return seconds_of(command, Oracle{}, variables); }},
        {"followed", "",
         [&] {
           return seconds_of(command, {nullptr, &reference, "REFRAIN_ORACLE_THREADS=program"},
                             variables);
         }},
        {"recorded", "", [&] {
           return seconds_of(command, {&recorded, nullptr}, variables);
         }}};
    run_rounds(ways, rounds);
    const Contestant* vanilla = find_finished(ways, "vanilla");
    if (vanilla == nullptr) continue;
    for (const Contestant& way : ways) {
      if (!way.finished() || &way == vanilla) continue;
      std::vector<double> more;
      for (std::size_t i = 0; i < way.samples.size(); ++i)
        more.push_back((way.samples[i] - vanilla->samples[i]) * 1e9 / (steps * 32.0 * 2));
      const Spread ns = spread(more);
      const std::string variant = std::to_string(threads) + "_threads";
      records.add(record(way.system, variant, 0, "ns_per_event", "ns", ns));
      std::printf("%d threads, %-8s %6.1f ns per event (%.1f to %.1f)\n", threads,
                  way.system.c_str(), ns.median, ns.min, ns.max);
    }
  }
}

/// Figure 14: rates of unexpected events.
void unexpected(const Program& program, int rounds, Records& records) {
  const TemporaryFile recorded, learned;
  const std::string& variables = program.variables;
  seconds_of(program.recorded, {&recorded, nullptr}, variables);
  seconds_of(program.command, {&learned, &recorded}, variables);
  const auto fixed = [&](const std::string& number) {
    return [&, number] { return seconds_of(program.command, variables + " " + number); };
  };
  std::vector<Contestant> ways{{"default", "0", fixed("")},
                               {"one", "0", fixed("OMP_NUM_THREADS=1")}};
  for (const auto& [system, reference, choice] :
       {std::tuple("thresholds", &recorded, " REFRAIN_ORACLE_THREADS=thresholds"),
        {"learning", &recorded, ""},
        {"learned", &learned, ""}}) {
    for (const char* const rate : {"0", "1", "5", "10", "20", "30", "50"}) {
      const std::string percent = std::string("REFRAIN_ORACLE_UNEXPECTED=") + rate;
      const Oracle oracle{nullptr, reference, percent + choice};
      ways.push_back(
          {system, rate, [&, oracle] { return seconds_of(program.command, oracle, variables); }});
    }
  }
  run_rounds(ways, rounds);
  for (const Contestant& way : ways) {
    if (!way.finished()) continue;
    const Spread seconds = spread(way.samples);
    const int rate = std::stoi(way.variant);
    records.add(record(way.system, "unexpected", rate, "seconds", "s", seconds));
    std::printf("%2d%% unexpected: %-10s %7.3f s (%.3f to %.3f)\n", rate, way.system.c_str(),
                seconds.median, seconds.min, seconds.max);
  }
}

/// What it costs to shrink and to grow, per turn.
void shrink(const std::string& programs, int rounds, int turns, Records& records) {
  const TemporaryFile file;
  for (const auto& [large, small] : {std::pair(4, 2), {8, 2}, {8, 7}}) {
    const std::string command = programs + "/shrink_grow " + std::to_string(large) + " " +
                                std::to_string(small) + " " + std::to_string(turns);
    const std::string passive = "OMP_WAIT_POLICY=passive";
    std::vector<Contestant> ways{
        {"libgomp", "", [&] { return seconds_of(command, passive); }},
        {"kept", "", [&] { return seconds_of(command, {.record = &file}, passive); }}};
    run_rounds(ways, rounds);
    const std::string variant = "shrink_" + std::to_string(large) + "_" + std::to_string(small);
    for (Contestant& way : ways) {
      if (!way.finished()) continue;
      for (double& sample : way.samples) sample *= 1e6 / turns;
      const Spread us = spread(way.samples);
      records.add(record(way.system, variant, 0, "us_per_turn", "us", us));
      std::printf("teams of %d and %d in turn, %-8s %7.1f us (%.1f to %.1f)\n", large, small,
                  way.system.c_str(), us.median, us.min, us.max);
    }
  }
}

/// Debian's ImageMagick: many small pictures and a large one, in one process. Its regions have num_threads clauses,
/// which are taken as limits; those of most operations on less than some thousand rows are for one thread, so the
/// pictures are high, and some change their colour space.
Program pictures(int small) {
  const std::string command =
      "/usr/bin/convert-im6.q16 \\( -size 40x520 gradient:red-blue -duplicate " +
      std::to_string(small) +
      " -colorspace Gray -colorspace Lab \\)"
      " \\( -size 200x9000 gradient:red-blue -blur 0x2 -colorspace Lab -modulate 110,90"
      " -colorspace sRGB -resize 120% \\) null:";
  return {"imagemagick", command, command, "REFRAIN_ORACLE_CLAUSES=limit"};
}

}  // namespace
}  // namespace refrain::bench

int main(int argc, char** argv) {
  using namespace refrain::bench;
  const Options options = parse_options(
      argc, argv, "How much better are numbers of threads that the oracle helps to choose?", 3, 3);
  const std::string mixed = options.peers + "/mixed_regions ";
  const auto mix = [&](const std::string& name, int steps) {
    const int now = options.quick ? std::max(2, steps / 4) : steps;
    // Its results do not depend on teams, and half of its regions are such that `safe` would leave them as they are.
    return Program{name, mixed + name + " " + std::to_string(std::max(2, now / 4)),
                   mixed + name + " " + std::to_string(now), "REFRAIN_ORACLE_TEAMS=any"};
  };
  const int rounds = options.all ? std::max(options.reps, 9) : options.reps;
  Records records;
  // With OMP_WAIT_POLICY=passive threads sleep while they wait: teams cost more, and others' threads disturb them less.
  const auto passive = [&](const std::string& name, int steps) {
    Program program = mix(name, steps);
    program.name += "_passive";
    program.variables = "OMP_WAIT_POLICY=passive";
    return program;
  };
  for (const auto& [name, steps] : {std::pair("small", 24), {"even", 24}, {"large", 16}}) {
    for (const Program& program : {mix(name, steps), passive(name, steps)}) {
      const bool judged = options.all || !options.only.empty() || name == std::string("small");
      if (judged && options.wants(program.name)) compare(program, rounds, records);
    }
  }
  const std::string time_steps = options.peers + "/time_steps ";
  for (const int elements : {750, 3000, 15000}) {
    for (const bool waits_passively : {false, true}) {
      const std::string name = "steps_" + std::to_string(elements);
      Program program{
          name, time_steps + std::to_string(elements) + " 40",
          time_steps + std::to_string(elements) + " " +
              std::to_string((options.quick || waits_passively ? 300'000 : 900'000) / elements)};
      if (waits_passively) {
        program.name += "_passive";
        program.variables = "OMP_WAIT_POLICY=passive";
      }
      if (options.wants(program.name)) compare(program, rounds, records);
    }
  }
  if (options.wants("events")) events(time_steps, rounds + 4, options.quick ? 500 : 1500, records);
  if (options.wants("imagemagick")) {
    const Program program = pictures(options.quick ? 30 : 200);
    struct stat there {};
    if (stat("/usr/bin/convert-im6.q16", &there) == 0) compare(program, rounds, records);
    else std::printf("left out: ImageMagick is not installed\n");
  }
  if (options.all && options.wants("unexpected")) unexpected(passive("small", 12), rounds, records);
  if (options.all && options.wants("shrink"))
    shrink(options.peers, rounds, options.quick ? 200 : 2000, records);
  records.write(options.out);
  return 0;
}
