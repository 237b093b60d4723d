#include "mapping/mapping_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.hpp"
#include "machine/machine.hpp"
#include "mapping/mapping.hpp"
#include "refrain/error.hpp"

namespace refrain::mapping {

namespace {

constexpr std::string_view kDistributions =
    "\"leader\", \"blocked\", \"cyclic\" or {\"tiled\": [tiles, ...]}";

ShardId leader_of(const Point<3>&, const Rect<3>&, ShardId, std::uint64_t) { return 0; }

Distribution distribution_of(const JsonNode& node) {
  if (node.value().is_string()) {
    const std::string& text = node.as_string();
    if (text == "leader") return {.leader = true, .among = {}};
    if (text == "blocked") return {};
    if (text == "cyclic") return {.leader = false, .among = Sharding::cyclic()};
  }
  if (!node.value().is_object()) node.expected(kDistributions);
  node.allow_only({"tiled"});
  const JsonNode list = node.at("tiled");
  const std::vector<JsonNode> tiles = list.as_array();
  if (tiles.empty() || tiles.size() > 3) list.expected("the number of tiles in 1 to 3 dimensions");
  Point<3> grid{1, 1, 1};
  for (std::size_t d = 0; d < tiles.size(); ++d)
    grid[static_cast<int>(d)] = tiles[d].as_integer(1, 1 << 20);
  try {
    return {.leader = false, .among = Sharding::tiled(grid)};
  } catch (const UsageError& error) { list.fail("{}", error.what()); }
}

/// A kind, or a list of them with the best first, of which the machine has each. `kinds`: all that there are.
template <class Kind>
std::vector<Kind> kinds_of(const JsonNode& node, std::span<const Kind> kinds,
                           const Machine& machine, std::string_view what) {
  std::vector<Kind> found;
  for (const JsonNode& each : node.value().is_array() ? node.as_array() : std::vector{node}) {
    std::vector<std::string_view> names, there;
    for (const Kind kind : kinds) {
      names.push_back(to_string(kind));
      bool has = false;
      if constexpr (std::is_same_v<Kind, ProcessorKind>) has = machine.has(kind);
      else has = !machine.memories(kind).empty();
      if (has) there.push_back(to_string(kind));
    }
    const std::string& name = each.as_string();
    const auto known = std::ranges::find(names, name);
    if (known == names.end())
      each.fail("'{}' is no kind of {}{}", name, what, did_you_mean(name, names));
    if (std::ranges::find(there, name) == there.end())
      each.fail("this machine ('{}') has no {}; it has {}", machine.name(), name, joined(there));
    const Kind kind = kinds[static_cast<std::size_t>(known - names.begin())];
    if (std::ranges::find(found, kind) != found.end())
      each.fail("'{}' is given a second time", name);
    found.push_back(kind);
  }
  if (found.empty()) node.expected(fmt::format("a kind of {}, or a list of them", what));
  return found;
}

template <class Value>
Value one_of(const JsonNode& node, std::initializer_list<std::pair<const char*, Value>> values) {
  std::string names;
  for (const auto& [name, value] : values) {
    if (node.value().is_string() && node.as_string() == name) return value;
    names += fmt::format("{}\"{}\"", names.empty() ? "" : " or ", name);
  }
  node.expected(names);
}

/// "dir/main.cpp:42", the end of a path and a line, or the end of a path alone.
struct Place {
  std::string file;
  std::uint32_t line = 0;

  explicit Place(const JsonNode& node) {
    const std::string& text = node.as_string();
    const std::size_t colon = text.rfind(':');
    file = text.substr(0, colon);
    const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
    if (file.empty() || (colon != std::string::npos &&
                         (digits.empty() || digits.size() > 9 ||
                          digits.find_first_not_of("0123456789") != std::string::npos)))
      node.expected("a source file, or a file and a line such as \"main.cpp:42\"");
    if (!digits.empty()) line = static_cast<std::uint32_t>(std::stoul(digits));
  }
  [[nodiscard]] bool is_at(const Where& where) const {
    const std::string_view path = where.file_name();
    const bool is_end = path.ends_with(file) &&
                        (path.size() == file.size() || path[path.size() - file.size() - 1] == '/');
    return is_end && (line == 0 || line == where.line());
  }
};

bool is_pattern(std::string_view text) { return text.find('*') != std::string_view::npos; }

}  // namespace

bool fits(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star);
  // Between two stars the first place where the text is found leaves most to what follows.
  while (true) {
    pattern.remove_prefix(1);
    const std::size_t next = pattern.find('*');
    if (next == std::string_view::npos) return name.ends_with(pattern);
    const std::size_t found = name.find(pattern.substr(0, next));
    if (found == std::string_view::npos) return false;
    name.remove_prefix(found + next);
    pattern.remove_prefix(next);
  }
}

std::size_t deal(const Sharding& among, const MappingInput& input, std::size_t processors) {
  using Wide = unsigned __int128;  // a launch domain may have 2^63 points
  switch (among.kind()) {
    case Sharding::Kind::cyclic: return input.rank % processors;
    case Sharding::Kind::tiled:
      return static_cast<std::size_t>(among.tile_of(input.point, input.bounds) % processors);
    default: break;
  }
  return static_cast<std::size_t>(Wide{input.rank} * processors /
                                  std::max<std::size_t>(input.points, 1));
}

struct MappingFile::Rule {
  struct Argument {
    JsonNode node;
    static constexpr std::size_t kAny = ~std::size_t{0};
    std::size_t position = kAny;
    std::string field = "*";
    std::vector<MemoryKind> memories = {};
    std::optional<Order> order = {};
    std::optional<Extent> extent = {};
    std::optional<Sparse> sparse = {};
    std::optional<WhenFull> when_full = {};
    std::atomic<bool> has_applied = false;  // relaxed: read at the end

    Argument(const JsonNode& node, const Machine& machine);
    [[nodiscard]] bool is_meant(std::size_t at, const MappingArgument& argument) const {
      return (position == kAny || position == at) && fits(field, argument.field);
    }
    void apply(const MappingInput& input, ProcessorId processor, ArgumentMapping& answer) const;
  };

  JsonNode node;
  std::string task = "*";
  std::optional<Place> place = {};
  std::vector<ProcessorKind> processors = {};
  std::optional<Distribution> distribution = {};
  std::vector<std::unique_ptr<Argument>> arguments = {};
  std::atomic<bool> has_applied = false;  // relaxed: read at the end

  Rule(const JsonNode& rule, const Machine& machine);
  [[nodiscard]] bool is_meant(std::string_view name, const Where& where) const {
    return fits(task, name) && (!place || place->is_at(where));
  }
  /// The first kind of processor that the task has a body for.
  [[nodiscard]] ProcessorKind kind_for(const MappingInput& input) const;
  void check_arguments(const MappingInput& input) const;
};

MappingFile::Rule::Argument::Argument(const JsonNode& argument, const Machine& machine)
    : node(argument) {
  using enum MemoryKind;
  static constexpr MemoryKind kinds[] = {system, pinned, framebuffer};  // no task reaches a file
  argument.allow_only(
      {"argument", "field", "memories", "order", "extent", "sparse", "when_full", "note"});
  if (const auto at = argument.find("argument"))
    position = static_cast<std::size_t>(at->as_integer(0, 1 << 20));
  if (const auto name = argument.find("field")) field = name->as_string();
  if (const auto list = argument.find("memories"))
    memories = kinds_of<MemoryKind>(*list, kinds, machine, "memory");
  if (const auto text = argument.find("order"))
    order = one_of<Order>(*text, {{"c", Order::c}, {"fortran", Order::fortran}});
  if (const auto text = argument.find("extent"))
    extent = one_of<Extent>(*text, {{"whole", Extent::whole}, {"exact", Extent::exact}});
  if (const auto text = argument.find("sparse"))
    sparse = one_of<Sparse>(
        *text,
        {{"by_density", Sparse::by_density}, {"box", Sparse::box}, {"compact", Sparse::compact}});
  if (const auto text = argument.find("when_full"))
    when_full = one_of<WhenFull>(*text, {{"evict", WhenFull::evict}, {"next", WhenFull::next}});
}

void MappingFile::Rule::Argument::apply(const MappingInput& input, ProcessorId processor,
                                        ArgumentMapping& answer) const {
  if (order) answer.layout.order = *order;
  if (extent) answer.layout.extent = *extent;
  if (sparse) answer.layout.sparse = *sparse;
  if (when_full) answer.when_full = *when_full;
  if (memories.empty()) return;
  std::vector<MemoryId> reached;
  for (const MemoryKind kind : memories)
    if (const auto memory = input.machine->nearest(processor, kind)) reached.push_back(*memory);
  if (reached.empty()) {
    std::vector<std::string_view> names;
    for (const MemoryId id : input.machine->processor(processor).memories)
      names.push_back(to_string(input.machine->memory(id).kind));
    node.fail("{} reaches none of these memories; it reaches {}",
              input.machine->processor(processor).name, joined(names));
  }
  answer.memories = std::move(reached);
}

MappingFile::Rule::Rule(const JsonNode& rule, const Machine& machine) : node(rule) {
  using enum ProcessorKind;
  static constexpr ProcessorKind kinds[] = {cpu, gang, gpu};
  rule.allow_only({"task", "at", "processor", "distribution", "arguments", "note"});
  if (const auto name = rule.find("task")) task = name->as_string();
  if (const auto at = rule.find("at")) place.emplace(*at);
  if (const auto kind = rule.find("processor"))
    processors = kinds_of<ProcessorKind>(*kind, kinds, machine, "processor");
  if (const auto how = rule.find("distribution")) distribution = distribution_of(*how);
  if (const auto list = rule.find("arguments"))
    for (const JsonNode& argument : list->as_array())
      arguments.push_back(std::make_unique<Argument>(argument, machine));
}

ProcessorKind MappingFile::Rule::kind_for(const MappingInput& input) const {
  for (const ProcessorKind kind : processors)
    if (std::ranges::find(input.variants, kind) != input.variants.end()) return kind;
  std::vector<std::string_view> names;
  for (const ProcessorKind kind : input.variants) names.push_back(to_string(kind));
  node.at("processor")
      .fail("task '{}' has no body for it; it has bodies for {}{}", input.task, joined(names),
            is_pattern(task) ? " (a list such as [\"gpu\", \"cpu\"] gives a choice)" : "");
}

// A rule for one task says something about its arguments; one for several, only about those that fit.
void MappingFile::Rule::check_arguments(const MappingInput& input) const {
  if (is_pattern(task)) return;
  for (const auto& argument : arguments) {
    const std::size_t position = argument->position;
    const bool any = position == Argument::kAny;
    if (!any && position >= input.arguments.size())
      argument->node.at("argument")
          .fail("task '{}' has {} region argument{}", input.task, input.arguments.size(),
                input.arguments.size() == 1 ? "" : "s");
    if (is_pattern(argument->field)) continue;
    std::vector<std::string_view> fields;
    for (std::size_t i = 0; i < input.arguments.size(); ++i)
      if (any || position == i) fields.push_back(input.arguments[i].field);
    if (std::ranges::find(fields, argument->field) == fields.end())
      argument->node.at("field").fail("{} of task '{}' is no field '{}'{}",
                                      any ? "any argument" : fmt::format("argument {}", position),
                                      input.task, argument->field,
                                      did_you_mean(argument->field, fields));
  }
}

MappingFile::MappingFile(std::string text, std::string name, const Machine& machine)
    : name_(std::move(name)), file_(std::move(text), name_) {
  const JsonNode root = file_.root();
  root.allow_only({kMappingMember, "machine", "rules", "note"});
  const JsonNode version = root.at(kMappingMember);
  if (version.as_integer(0, INT64_MAX) != kMappingVersion)
    version.fail("version {} of mapping files is not known; expected {}",
                 version.as_integer(0, INT64_MAX), kMappingVersion);
  for (const JsonNode& rule : root.at("rules").as_array())
    rules_.push_back(std::make_unique<Rule>(rule, machine));
}

MappingFile::~MappingFile() = default;

std::vector<MappingFile::Rule*> MappingFile::rules_for(std::string_view task, const Where& where) {
  std::vector<Rule*> found;
  for (const auto& rule : rules_)
    if (rule->is_meant(task, where)) {
      rule->has_applied.store(true, std::memory_order_relaxed);
      found.push_back(rule.get());
    }
  return found;
}

void MappingFile::map(const MappingInput& input, MappingOutput& output) {
  {
    const std::lock_guard lock(mutex_);
    if (!seen_.contains(input.task)) seen_.emplace(input.task);
  }
  const std::vector<Rule*> rules = rules_for(input.task, input.where);
  const Rule* by_kind = nullptr;
  Distribution distribution;
  bool is_dealt = false;
  for (const Rule* rule : rules) {
    rule->check_arguments(input);
    if (!rule->processors.empty()) by_kind = rule;
    if (rule->distribution) distribution = *rule->distribution, is_dealt = true;
  }
  const Machine& machine = *input.machine;
  if (by_kind != nullptr) {
    const ProcessorKind kind = by_kind->kind_for(input);
    MappingInput only = input;
    only.variants = {&kind, 1};
    map_by_default(only, only.variants, output);
  }
  if (is_dealt) {
    std::span<const ProcessorId> processors =
        machine.processors(machine.processor(output.processor).kind);
    if (distribution.leader) {
      const auto other = std::ranges::find_if(
          processors, [&](ProcessorId id) { return machine.processor(id).rank > 0; });
      processors = processors.first(static_cast<std::size_t>(other - processors.begin()));
    }
    output.processor = processors[deal(distribution.among, input, processors.size())];
    // What the default rules have said of memories is said of the other processor's.
    for (ArgumentMapping& argument : output.arguments)
      for (MemoryId& memory : argument.memories)
        memory = machine.nearest(output.processor, machine.memory(memory).kind).value_or(memory);
  }
  for (const Rule* rule : rules)
    for (const auto& argument : rule->arguments)
      for (std::size_t i = 0; i < input.arguments.size(); ++i)
        if (argument->is_meant(i, input.arguments[i])) {
          argument->has_applied.store(true, std::memory_order_relaxed);
          argument->apply(input, output.processor, output.arguments[i]);
        }
}

Sharding MappingFile::sharding(const ShardingInput& input) {
  Sharding sharding;
  for (const Rule* rule : rules_for(input.task, input.where))
    if (rule->distribution)
      sharding = rule->distribution->leader ? Sharding::function("leader", leader_of)
                                            : rule->distribution->among;
  return sharding;
}

void MappingFile::check_tasks(std::span<const std::string> known) const {
  const std::lock_guard lock(mutex_);
  std::set<std::string_view> all(known.begin(), known.end());
  all.insert(seen_.begin(), seen_.end());
  const std::vector<std::string_view> names(all.begin(), all.end());
  for (const auto& rule : rules_)
    if (!is_pattern(rule->task) && !all.contains(rule->task))
      rule->node.at("task").fail("no task is called '{}'{}", rule->task,
                                 did_you_mean(rule->task, names));
}

std::string MappingFile::unused() const {
  // A place takes as long to find as the file is long.
  constexpr std::size_t kMost = 20;
  std::string text;
  std::size_t count = 0;
  const auto note = [&](const JsonNode& node, const std::string& what) {
    if (++count > kMost) return;
    try {
      node.fail("{}", what);
    } catch (const InputError& error) { text += std::string(error.what()) + "\n"; }
  };
  for (const auto& rule : rules_) {
    if (!rule->has_applied.load(std::memory_order_relaxed)) {
      note(rule->node, "this rule has applied to no launch");
      continue;
    }
    for (const auto& argument : rule->arguments)
      if (!argument->has_applied.load(std::memory_order_relaxed))
        note(argument->node, "this has applied to no argument");
  }
  if (count > kMost) text += fmt::format("{}: so have {} more\n", name_, count - kMost);
  return text;
}

}  // namespace refrain::mapping
