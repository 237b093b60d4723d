#include "map_search/synthetic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace refrain::map_search::test {

namespace {

std::vector<Kind> some_of(Random& random, std::size_t all) {
  std::vector<Kind> some;
  while (some.empty())
    for (std::size_t i = 0; i < all; ++i)
      if (random.percent(60)) some.push_back(static_cast<Kind>(i));
  return some;
}

constexpr Kind cpu = 0, gpu = 1;
constexpr Kind sys = 0, zc = 1, fb = 2;
/// GB/s from a processor to a memory, and between memories.
constexpr std::array<std::array<double, 3>, 2> access{{{60, 40, 0}, {0, 12, 500}}};
constexpr std::array<std::array<double, 3>, 3> link{{{100, 30, 10}, {30, 100, 12}, {10, 12, 500}}};
constexpr double network = 8;

Space paper_machine(int nodes) {
  Space space;
  space.program = "synthetic";
  space.memories = {{"sys", 0}, {"zc", 0}, {"fb", 0}};
  space.processors = {{"cpu", {sys, zc}, sys, false}, {"gpu", {zc, fb}, fb, true}};
  if (nodes == 1) space.distributions = {"blocked"};
  return space;
}

/// What a task is given of a collection: all of it, or its halo.
struct Use {
  int collection;
  bool halo;
};

/// Logical collections that tasks share: as a whole, or by their halos.
void add_uses(Space& space, const std::vector<std::vector<Use>>& uses,
              const std::vector<std::uint64_t>& bytes) {
  std::vector<Use> all;
  for (std::uint32_t task = 0; task < uses.size(); ++task)
    for (const Use& use : uses[task]) {
      const std::uint64_t whole = bytes[static_cast<std::size_t>(use.collection)];
      space.arguments.push_back({task, "c" + std::to_string(use.collection) + (use.halo ? "h" : ""),
                                 use.halo ? whole / 16 : whole});
      all.push_back(use);
    }
  for (std::uint32_t a = 0; a < all.size(); ++a)
    for (std::uint32_t b = a + 1; b < all.size(); ++b)
      if (all[a].collection == all[b].collection)
        space.overlaps.push_back(
            {a, b, std::min(space.arguments[a].bytes, space.arguments[b].bytes)});
}

}  // namespace

Space any_space(Random& random) {
  Space space;
  space.program = "any";
  const auto memories = static_cast<std::size_t>(random.between(1, 4));
  for (std::size_t i = 0; i < memories; ++i)
    space.memories.push_back(
        {"m" + std::to_string(i),
         static_cast<std::uint64_t>(random.percent(70) ? 0 : random.below(20))});
  const auto processors = static_cast<std::size_t>(random.between(1, 3));
  for (std::size_t i = 0; i < processors; ++i) {
    ProcessorKind kind{"p" + std::to_string(i), some_of(random, memories), 0, random.percent(40)};
    kind.nearest = random.pick(kind.memories);
    space.processors.push_back(kind);
  }
  space.distributions.resize(static_cast<std::size_t>(random.between(1, 2)));
  if (random.percent(20)) space.distributions.emplace_back("cyclic");
  const int tasks = random.between(1, 6);
  for (int t = 0; t < tasks; ++t) {
    space.tasks.push_back({"t" + std::to_string(t), some_of(random, processors),
                           static_cast<double>(random.below(4)), random.percent(80)});
    for (int c = random.below(5); c > 0; --c)
      space.arguments.push_back(
          {static_cast<std::uint32_t>(t), "c", static_cast<std::uint64_t>(random.below(6))});
  }
  const int density = random.below(60);
  for (std::uint32_t a = 0; a < space.arguments.size(); ++a)
    for (std::uint32_t b = a + 1; b < space.arguments.size(); ++b)
      if (random.percent(density))
        space.overlaps.push_back({a, b, static_cast<std::uint64_t>(random.below(5))});
  return space;
}

Run Program::run(const Mapping& mapping) const {
  double time = 0;
  std::array<double, 3> used{};
  std::uint64_t copied = 0;
  for (std::size_t task = 0; task < space.tasks.size(); ++task) {
    const bool leader = mapping.distribution[task] != 0;
    time +=
        work[task][mapping.processor[task]] / (leader ? 1 : nodes) + (leader ? 0 : 1e-5 * nodes);
  }
  for (std::size_t i = 0; i < space.arguments.size(); ++i) {
    const std::uint32_t task = space.arguments[i].task;
    const auto bytes = static_cast<double>(space.arguments[i].bytes);
    const bool leader = mapping.distribution[task] != 0;
    time += bytes / (leader ? 1 : nodes) / access[mapping.processor[task]][mapping.memory[i]] / 1e9;
    used[mapping.memory[i]] += bytes;
  }
  for (const Overlap& overlap : space.overlaps) {
    const Kind a = mapping.memory[overlap.a], b = mapping.memory[overlap.b];
    const auto bytes = static_cast<double>(overlap.bytes);
    if (a == b) {
      used[a] -= bytes;
    } else {
      time += bytes / link[a][b] / 1e9;
      copied += overlap.bytes;
    }
    if (mapping.distribution[space.arguments[overlap.a].task] !=
        mapping.distribution[space.arguments[overlap.b].task])
      time += bytes / network / 1e9;
  }
  for (std::size_t memory = 0; memory < 3; ++memory)
    if (const auto capacity = static_cast<double>(space.memories[memory].capacity);
        capacity > 0 && used[memory] > capacity)
      return {Outcome::out_of_memory, 0, 0, 1, space.memories[memory].name + " is too small"};
  return {Outcome::ok, time, copied, 1, {}};
}

double Program::seconds(const Mapping& mapping) const {
  const Run result = run(mapping);
  return result.outcome == Outcome::ok ? result.seconds : std::numeric_limits<double>::infinity();
}

Program random_program(Random& random, double largest) {
  Program program;
  program.nodes = random.percent(50) ? 1 : 1 << random.between(1, 2);
  program.space = paper_machine(program.nodes);
  const int collections = random.between(1, 6);
  std::vector<std::uint64_t> bytes;
  bytes.reserve(static_cast<std::size_t>(collections));
  for (int i = 0; i < collections; ++i) bytes.push_back(std::uint64_t{1} << random.between(12, 28));
  std::vector<std::vector<Use>> uses;
  for (int misses = 0; misses < 10;) {
    // A task more, with what it uses; taken back where the space gets too large.
    Program before = program;
    std::vector<Use> own;
    std::set<int> different;
    for (int i = random.between(1, 4); i > 0; --i) different.insert(random.below(collections));
    own.reserve(different.size());
    for (const int collection : different) own.push_back({collection, random.percent(30)});
    double touched = 0;
    for (const Use& use : own)
      touched += static_cast<double>(bytes[static_cast<std::size_t>(use.collection)]);
    const double seconds = touched / 1e9 / (1 << random.below(7));
    // Launching on a GPU costs 20 microseconds; some kernels suit it badly.
    const double faster =
        std::array{0.5, 2.0, 10.0, 30.0}[static_cast<std::size_t>(random.below(4))];
    program.work.push_back({seconds, 2e-5 + seconds / faster});
    std::vector<Kind> variants{cpu, gpu};
    if (random.percent(10)) variants = {static_cast<Kind>(random.below(2))};
    program.space.tasks.push_back({"t" + std::to_string(uses.size()), variants, seconds, true});
    uses.push_back(own);
    program.space.arguments.clear();
    program.space.overlaps.clear();
    add_uses(program.space, uses, bytes);
    if (size(program.space) <= largest) continue;
    program = std::move(before);
    uses.pop_back();
    ++misses;
  }
  if (random.percent(30)) {
    double all = 0;
    for (const std::uint64_t b : bytes) all += static_cast<double>(b);
    program.space.memories[fb].capacity =
        static_cast<std::uint64_t>(all * 0.01 * random.between(30, 120));
  }
  return program;
}

double optimum(const Program& program) {
  double best = std::numeric_limits<double>::infinity();
  Mapping mapping = first_mapping(program.space);
  do best = std::min(best, program.seconds(mapping));
  while (advance(program.space, mapping));
  return best;
}

}  // namespace refrain::map_search::test
