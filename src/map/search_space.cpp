#include "map/search_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "data/projection.hpp"
#include "mapping/mapping_file.hpp"
#include "refrain/error.hpp"

namespace refrain::map {

using capture::kNone, capture::Number;

namespace {

/// Of a region and a field: points.
using Collection = std::map<std::pair<Number, Number>, data::IndexSpaceRef>;

/// All launches of tasks of one name.
struct Launched {
  std::vector<ProcessorKind> variants;
  double seconds = 0;
  bool group = false;
  std::size_t arguments = ~std::size_t{0};  ///< that all of them have
  std::vector<std::string> names;           ///< of arguments: their fields
  std::vector<Collection> collections;      ///< of arguments
};

/// Whether a name fits one of several patterns, with commas between them.
bool is_one_of(std::string_view patterns, std::string_view name) {
  while (true) {
    const std::size_t comma = patterns.find(',');
    if (mapping::fits(patterns.substr(0, comma), name)) return true;
    if (comma == std::string_view::npos) return false;
    patterns.remove_prefix(comma + 1);
  }
}

/// The pieces that a launch uses of a partition.
std::vector<data::IndexSpaceRef> pieces_of(const capture::Program& program,
                                           const capture::Argument& argument,
                                           const data::IndexSpaceRef& domain) {
  const capture::Partition& partition = program.partitions[argument.partition];
  const data::IndexSpaceRef& colours = program.spaces[partition.colours];
  std::set<std::size_t> ranks;
  const auto use = [&](const Point<3>& colour) {
    if (const auto rank = colours->rank(colour)) ranks.insert(*rank);
  };
  const capture::Projection* const projection =
      argument.projection == kNone ? nullptr : &program.projections[argument.projection];
  if (projection != nullptr && projection->domain != kNone) {
    for (const Point<3>& colour : projection->colours) use(colour);
  } else {
    const Projection affine = projection == nullptr
                                  ? Projection()
                                  : Projection::affine(projection->matrix, projection->offset);
    domain->for_each_point(
        [&](const data::BoxPoint& point) { use(data::project(affine.impl(), point)); });
  }
  std::vector<data::IndexSpaceRef> pieces;
  pieces.reserve(ranks.size());
  for (const std::size_t rank : ranks) pieces.push_back(program.spaces[partition.pieces[rank]]);
  return pieces;
}

void add_launch(const capture::Program& program, const capture::Call& call, Launched& task) {
  task.group = task.group || (call.domain != kNone && program.spaces[call.domain]->volume() > 1);
  // Tasks of one name may have more arguments and fewer: a rule for the name speaks of those that all have.
  const std::size_t count = std::min(task.arguments, call.arguments.size());
  task.arguments = count;
  task.collections.resize(count);
  task.names.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const capture::Argument& argument = call.arguments[i];
    task.names[i] = program.fields[argument.field].name;
    std::vector<data::IndexSpaceRef> pieces;
    capture::Place of = argument.region;
    if (argument.partition == kNone) {
      pieces.push_back(program.points(argument.region));
    } else {
      of = program.partitions[argument.partition].of;
      pieces = pieces_of(program, argument, program.spaces[call.domain]);
    }
    data::IndexSpaceRef& points = task.collections[i][{program.root(of), argument.field}];
    if (points != nullptr) pieces.push_back(points);
    if (!pieces.empty()) points = data::unite(pieces.front()->dim(), pieces);
  }
}

std::uint64_t bytes_of(const capture::Program& program, const Collection& collection) {
  std::uint64_t bytes = 0;
  for (const auto& [of, points] : collection)
    if (points != nullptr) bytes += points->volume() * program.fields[of.second].size;
  return bytes;
}

std::uint64_t common_bytes(const capture::Program& program, const Collection& a,
                           const Collection& b) {
  std::uint64_t bytes = 0;
  for (const auto& [of, points] : a) {
    const auto other = b.find(of);
    if (other == b.end() || points == nullptr || other->second == nullptr) continue;
    bytes += data::intersect(points, other->second)->volume() * program.fields[of.second].size;
  }
  return bytes;
}

/// The kinds that there are, in the order in which the machine has them.
template <class Kind, class Thing>
std::vector<Kind> kinds_in_order(std::span<const Thing> things, Kind left_out) {
  std::vector<Kind> kinds;
  for (const Thing& thing : things)
    if (thing.kind != left_out && std::ranges::find(kinds, thing.kind) == kinds.end())
      kinds.push_back(thing.kind);
  return kinds;
}

template <class Kind>
map_search::Kind index_of(const std::vector<Kind>& kinds, Kind kind) {
  return static_cast<map_search::Kind>(std::ranges::find(kinds, kind) - kinds.begin());
}

}  // namespace

map_search::Space search_space(const capture::Program& program, const Machine& machine,
                               std::string_view tasks) {
  map_search::Space space;
  std::uint64_t points_hash = 0;  // of the input
  for (const data::IndexSpaceRef& points : program.spaces)
    points_hash = points_hash * 0x100000001b3u + points->id();
  space.program = fmt::format("{} on {}, {} calls, {:016x}", program.name, machine.name(),
                              program.stream.length(0), points_hash);
  const auto memories = kinds_in_order(machine.memories(), MemoryKind::file);
  const auto processors = kinds_in_order(machine.processors(), ProcessorKind::gang);
  for (const MemoryKind kind : memories) {
    std::uint64_t capacity = 0;
    for (const MemoryId memory : machine.memories(kind))
      capacity += machine.memory(memory).capacity;
    space.memories.push_back({std::string(to_string(kind)), capacity});
  }
  for (const ProcessorKind kind : processors) {
    const Processor& first = machine.processor(machine.processors(kind).front());
    map_search::ProcessorKind added{
        std::string(to_string(kind)), {}, 0, kind == ProcessorKind::gpu};
    for (const MemoryId memory : first.memories)
      if (machine.memory(memory).kind != MemoryKind::file)
        added.memories.push_back(index_of(memories, machine.memory(memory).kind));
    added.nearest = added.memories.front();
    std::ranges::sort(added.memories);
    added.memories.erase(std::ranges::unique(added.memories).begin(), added.memories.end());
    space.processors.push_back(std::move(added));
  }

  std::vector<std::string> order;
  std::map<std::string, Launched> launched;
  for (const capture::Call& call : program.calls) {
    if (call.kind != capture::CallKind::launch) continue;
    const capture::Task& captured = program.tasks[call.task];
    if (!is_one_of(tasks, captured.name)) continue;
    const auto [at, added] = launched.try_emplace(captured.name);
    if (added) order.push_back(captured.name), at->second.variants = captured.variants;
    // Several tasks may have one name: a mapping is one for all of them.
    std::erase_if(at->second.variants, [&](ProcessorKind kind) {
      return std::ranges::find(captured.variants, kind) == captured.variants.end();
    });
    add_launch(program, call, at->second);
  }
  for (const capture::Task& task : program.tasks)
    if (const auto of = launched.find(task.name); of != launched.end())
      for (const capture::Costs& costs : task.costs)
        for (const capture::Durations& each : costs)
          of->second.seconds += each.mean * static_cast<double>(each.count);

  if (order.empty())
    throw UsageError(fmt::format("'{}' launches no task that is called '{}'", program.name, tasks));
  std::vector<const Collection*> collections;
  for (const std::string& name : order) {
    const Launched& task = launched.at(name);
    map_search::Task added{name, {}, task.seconds, task.group && machine.ranks() > 1};
    for (const ProcessorKind kind : processors)
      if (std::ranges::find(task.variants, kind) != task.variants.end())
        added.variants.push_back(index_of(processors, kind));
    if (added.variants.empty())
      throw UsageError(fmt::format(
          "task '{}' has no body for any kind of processor that machine '{}' has and that can be "
          "searched",
          name, machine.name()));
    for (std::size_t i = 0; i < task.collections.size(); ++i) {
      space.arguments.push_back({static_cast<std::uint32_t>(space.tasks.size()), task.names[i],
                                 bytes_of(program, task.collections[i])});
      collections.push_back(&task.collections[i]);
    }
    space.tasks.push_back(std::move(added));
  }
  for (std::uint32_t a = 0; a < collections.size(); ++a)
    for (std::uint32_t b = a + 1; b < collections.size(); ++b)
      if (const std::uint64_t bytes = common_bytes(program, *collections[a], *collections[b]);
          bytes > 0)
        space.overlaps.push_back({a, b, bytes});
  return space;
}

namespace {

/// The kind that was chosen, and those that the processor reaches behind it: the first that has room is used (AutoMap,
/// section 2, the generalisation to priority lists).
std::string memories_of(const map_search::Space& space, map_search::Kind processor,
                        map_search::Kind chosen) {
  std::string list = json_string(space.memories[chosen].name);
  const std::vector<map_search::Kind>& reached = space.processors[processor].memories;
  if (reached.size() == 1) return "\"memories\": " + list;
  for (const map_search::Kind other : reached)
    if (other != chosen) list += ", " + json_string(space.memories[other].name);
  return fmt::format("\"memories\": [{}], \"when_full\": \"next\"", list);
}

}  // namespace

std::string mapping_file(const map_search::Space& space, const map_search::Mapping& mapping,
                         const std::string& note) {
  std::string text =
      fmt::format("{{\n  \"{}\": {},\n  \"note\": {},\n  \"rules\": [", mapping::kMappingMember,
                  mapping::kMappingVersion, json_string(note));
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task) {
    const map_search::Task& each = space.tasks[task];
    text += fmt::format("{}\n    {{\"task\": {}, \"processor\": \"{}\"", task == 0 ? "" : ",",
                        json_string(each.name), space.processors[mapping.processor[task]].name);
    if (each.group)
      text += fmt::format(", \"distribution\": \"{}\"",
                          space.distributions[mapping.distribution[task]]);
    text += ",\n     \"arguments\": [";
    const auto arguments = space.arguments_of(task);
    for (const std::uint32_t argument : arguments)
      text += fmt::format("{}{{\"argument\": {}, {}, \"note\": {}}}",
                          argument == *arguments.begin() ? "" : ",\n                   ",
                          argument - *arguments.begin(),
                          memories_of(space, mapping.processor[task], mapping.memory[argument]),
                          json_string(space.arguments[argument].name));
    text += "]}";
  }
  return text + "\n  ]\n}\n";
}

}  // namespace refrain::map
