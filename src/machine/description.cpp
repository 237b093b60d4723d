// Machines from descriptions: the short form and the JSON form, docs/machine.md.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>

#include "base/json.hpp"
#include "base/text.hpp"
#include "machine/machine.hpp"
#include "refrain/error.hpp"

namespace refrain::machine {

namespace {

constexpr std::uint64_t default_size = std::uint64_t{256} << 20;  // on a GPU, and pinned

// "NAME=VALUE,NAME=VALUE" at the end of a description.
class Settings {
 public:
  struct Kind {
    std::string_view name;
    bool is_size;  // or a number
    std::uint64_t least, most;
  };

  /// `begin`: where the settings begin in the description.
  Settings(std::string_view description, std::size_t begin, std::span<const Kind> known)
      : text_(description), known_(known) {
    for (const auto setting : std::views::split(text_.substr(std::min(begin, text_.size())), ','))
      read({setting.begin(), setting.end()});
  }

  [[nodiscard]] bool has(std::string_view name) const { return settings_.contains(name); }
  [[nodiscard]] std::uint64_t at(std::string_view name, std::uint64_t otherwise) const {
    return has(name) ? settings_.at(name).number : otherwise;
  }

  /// `where`: the part of the text that is wrong.
  template <class... Values>
  [[noreturn]] void fail(std::string_view where, fmt::format_string<Values...> message,
                         Values&&... values) const {
    throw InputError(fmt::format("machine description '{}':1:{}: {}", text_,
                                 where.data() - text_.data() + 1,
                                 fmt::format(message, std::forward<Values>(values)...)));
  }
  /// For the setting of this name, which is there.
  template <class... Values>
  [[noreturn]] void fail_at(std::string_view name, fmt::format_string<Values...> message,
                            Values&&... values) const {
    fail(settings_.at(name).where, message, std::forward<Values>(values)...);
  }

 private:
  struct Setting {
    std::uint64_t number;
    std::string_view where;
  };

  void read(std::string_view setting) {
    const std::string_view name = setting.substr(0, setting.find('='));
    const auto known = std::ranges::find(known_, name, &Kind::name);
    if (known == known_.end()) {
      std::vector<std::string_view> names;
      std::ranges::transform(known_, std::back_inserter(names), &Kind::name);
      fail(name, "unknown name '{}'{}", name, did_you_mean(name, names));
    }
    if (name == setting)
      fail(setting.substr(name.size()), "expected '=' and a value after '{}'", name);
    if (has(name)) fail(name, "'{}' is given a second time", name);
    const std::string_view value = setting.substr(name.size() + 1);
    const bool has_unit = value.find_first_not_of("0123456789") != std::string_view::npos;
    const auto number = known->is_size || !has_unit ? parse_size(value) : std::nullopt;
    if (!number || *number < known->least || *number > known->most)
      fail(value, "expected {} for '{}', found '{}'",
           known->is_size ? "a size above 0 such as 64MiB"
                          : fmt::format("a whole number from {} to {}", known->least, known->most),
           name, value);
    settings_.emplace(name, Setting{*number, name});
  }

  const std::string_view text_;
  const std::span<const Kind> known_;
  std::map<std::string_view, Setting> settings_;
};

constexpr std::array<Settings::Kind, 6> kShortForm{{{"cpus", false, 1, most_processors},
                                                    {"gpus", false, 0, most_processors},
                                                    {"numa", false, 1, most_processors},
                                                    {"system", true, 1, INT64_MAX},
                                                    {"framebuffer", true, 1, INT64_MAX},
                                                    {"pinned", true, 1, INT64_MAX}}};

// "emulated:gpus=2,framebuffer=64MiB": the machine found, changed by a few settings. An emulated GPU is a worker thread
// with a framebuffer of its own, an arena of main memory that nothing else touches, so that every copy to and from a GPU
// happens for real.
Machine read_short_form(std::string_view text, Hardware hardware) {
  const Settings settings(text, std::string_view("emulated:").size(), kShortForm);
  hardware.gpus = settings.at("gpus", 0);
  if (settings.has("framebuffer") && hardware.gpus == 0)
    settings.fail_at("framebuffer", "a framebuffer needs a gpu; expected 'gpus=' with at least 1");
  hardware.framebuffer = settings.at("framebuffer", default_size);
  hardware.pinned = settings.at("pinned", hardware.gpus > 0 ? default_size : 0);
  // Cpus that are asked for are unbound threads that the operating system places, since there may be more of them
  // than cores.
  const bool has_cpus = settings.has("cpus");
  const std::size_t cpus = settings.at("cpus", hardware.cpus.size());
  const std::size_t domains = settings.at("numa", has_cpus ? 1 : hardware.domains.size());
  if (domains > cpus)
    settings.fail_at("numa", "expected at most one NUMA domain per cpu, found numa={} with {} cpus",
                     domains, cpus);
  if (has_cpus) hardware.cpus.assign(cpus, {.emulated = true});
  if (has_cpus || settings.has("numa"))
    for (std::size_t i = 0; i < cpus; ++i)
      hardware.cpus[i].domain = static_cast<int>(i * domains / cpus);
  const std::uint64_t all = std::reduce(hardware.domains.begin(), hardware.domains.end());
  hardware.domains.assign(domains, settings.at("system", all / domains));
  return assemble(std::string(text), hardware);
}

// The JSON form. Every mistake, of syntax or of meaning, is reported at the line and column of the value that is wrong.

// The table of ways grows with the square, its making with the cube.
constexpr int most_memories = 1024;
// Of all nodes together.
constexpr std::uint64_t most_in_all = 1 << 20, most_ways = 1 << 24;

constexpr std::array<Settings::Kind, 4> kFileSettings{{{"nodes", false, 1, most_nodes},
                                                       {"system", true, 1, INT64_MAX},
                                                       {"pinned", true, 1, INT64_MAX},
                                                       {"framebuffer", true, 1, INT64_MAX}}};

/// A number, or a text that `parse` reads, from `least` to `most`.
double quantity_of(const JsonNode& node, std::optional<double> (*parse)(std::string_view),
                   double least, double most, std::string_view what) {
  std::optional<double> value;
  if (node.value().is_number()) value = node.as_number();
  if (node.value().is_string()) value = parse(node.as_string());
  if (!value || !(*value >= least && *value <= most)) node.expected(what);
  return *value;
}

double bandwidth_of(const JsonNode& node) {
  return quantity_of(node, parse_bandwidth, std::numeric_limits<double>::denorm_min(),
                     std::numeric_limits<double>::max(),
                     "a bandwidth above 0 such as \"16GB/s\" or a number of bytes per second");
}

double duration_of(const JsonNode& node, std::string_view what = "a time") {
  return quantity_of(node, parse_duration, 0, 3600,
                     fmt::format("{} of at most an hour such as \"1.5us\", or a number of seconds "
                                 "from 0 to 3600",
                                 what));
}

std::uint64_t capacity_of(const JsonNode& node) {
  if (node.value().is_number()) return static_cast<std::uint64_t>(node.as_integer(1, INT64_MAX));
  const auto size = node.value().is_string() ? parse_size(node.as_string()) : std::nullopt;
  const std::uint64_t bytes = size.value_or(0);
  if (bytes == 0) node.expected("a size above 0 such as \"64MiB\" or a number of bytes");
  return bytes;
}

int integer_at(const JsonNode& object, std::string_view name, int least, int most, int otherwise) {
  const auto node = object.find(name);
  return node ? static_cast<int>(node->as_integer(least, most)) : otherwise;
}

MemoryKind memory_kind_of(const JsonNode& node) {
  using enum MemoryKind;
  for (const MemoryKind kind : {system, pinned, framebuffer, file})
    if (node.as_string() == to_string(kind)) return kind;
  node.expected("a memory kind (system, pinned, framebuffer or file)");
}

const ProcessorTraits& processor_kind_of(const JsonNode& node) {
  std::string described;
  for (const ProcessorTraits& traits : processor_table()) {
    if (traits.kind == ProcessorKind::gang) continue;
    if (node.as_string() == traits.name) return traits;
    described.append(described.empty() ? "" : " or ").append(traits.name);
  }
  if (node.as_string() == to_string(ProcessorKind::gang))
    node.fail("gangs are not described: there is one for the cpus of each NUMA domain; expected {}",
              described);
  node.expected("a processor kind (" + described + ")");
}

class JsonForm {
 public:
  /// The settings come before what the file says.
  Machine read(const JsonNode& root, const Settings& settings) {
    root.allow_only({"name", "nodes", "network", "overheads", "processors", "memories", "links",
                     "verified", "note", "source"});
    const auto name = root.find("name");
    machine_.name = name ? name->as_string() : "described machine";
    const JsonNode memories = root.at("memories");
    read_memories(memories);
    const JsonNode processors = root.at("processors");
    for (const JsonNode& object : processors.as_array()) read_processor(object);
    if (std::ranges::count(machine_.processors, ProcessorKind::cpu, &Processor::kind) == 0)
      processors.fail("expected at least one processor of kind 'cpu', found none");
    // Errors about a memory point to its name.
    const auto name_of = [&](const Memory& memory) {
      return memories.as_array()[memory.id].at("name");
    };
    for (const Memory& memory : machine_.memories)
      if (memory.kind == MemoryKind::framebuffer && !memory.owner)
        name_of(memory).fail("framebuffer '{}' belongs to no gpu; expected one that lists it first",
                             memory.name);
    for (const MemoryKind kind : {MemoryKind::system, MemoryKind::pinned, MemoryKind::framebuffer})
      if (settings.has(to_string(kind))) set_capacities(kind, settings);
    if (const auto links = root.find("links"))
      for (const JsonNode& link : links->as_array()) read_link(link);
    if (const auto network = root.find("network")) read_network(*network);
    if (const auto overheads = root.find("overheads")) read_overheads(*overheads);
    machine_.add_gangs();
    Machine machine = std::move(machine_).build();
    for (const Memory& from : machine.memories())  // data may have to go from any to any other
      for (const Memory& to : machine.memories())
        if (!std::isfinite(machine.copy_seconds(from.id, to.id, 1)))
          name_of(to).fail("no links lead from memory '{}' to memory '{}'", from.name, to.name);
    return on_nodes(std::move(machine), root.find("nodes"), settings);
  }

 private:
  void set_capacities(MemoryKind kind, const Settings& settings) {
    if (std::ranges::count(machine_.memories, kind, &Memory::kind) == 0)
      settings.fail_at(to_string(kind), "this machine has no such memory");
    for (Memory& memory : machine_.memories)
      if (memory.kind == kind) memory.capacity = settings.at(to_string(kind), memory.capacity);
  }

  // So many nodes like `one`: by the settings, else by the file.
  static Machine on_nodes(Machine one, const std::optional<JsonNode>& given,
                          const Settings& settings) {
    const auto in_file =
        given ? static_cast<std::uint64_t>(given->as_integer(1, most_nodes)) : std::uint64_t{1};
    const std::uint64_t nodes = settings.at("nodes", in_file);
    if (nodes == 1) return one;
    const std::uint64_t processors = nodes * one.processors().size();
    const std::uint64_t ways = nodes * one.memories().size() * one.memories().size();
    std::string wrong;
    if (!one.network()) wrong = fmt::format("{} nodes need a 'network' that joins them", nodes);
    if (processors > most_in_all || ways > most_ways)
      wrong = fmt::format(
          "expected at most {} processors and {} pairs of memories of a node in all, found {} and "
          "{} on {} nodes",
          most_in_all, most_ways, processors, ways, nodes);
    if (!wrong.empty()) {
      if (given && !settings.has("nodes")) given->fail("{}", wrong);
      settings.fail_at("nodes", "{}", wrong);
    }
    std::vector<std::uint64_t> capacities;
    std::ranges::transform(one.memories(), std::back_inserter(capacities), &Memory::capacity);
    return of_ranks(one, static_cast<std::uint32_t>(nodes), capacities);
  }

  void read_network(const JsonNode& object) {
    object.allow_only({"bandwidth", "latency", "note", "source"});
    machine_.costs.network = Link{0, 0, bandwidth_of(object.at("bandwidth")),
                                  duration_of(object.at("latency"), "a latency")};
  }

  void read_overheads(const JsonNode& object) {
    object.allow_only({"analyse", "replay", "run", "wake", "note", "source"});
    Overheads& overheads = machine_.costs.overheads;
    for (const auto& [name, seconds] :
         {std::pair{"analyse", &overheads.analyse}, std::pair{"replay", &overheads.replay},
          std::pair{"run", &overheads.run}, std::pair{"wake", &overheads.wake}})
      if (const auto given = object.find(name)) *seconds = duration_of(*given);
  }

  static JsonNode given_name(const JsonNode& object) {
    const JsonNode node = object.at("name");
    if (node.as_string().empty()) node.expected("a name");
    return node;
  }
  // Names are what the rest of the file refers to, so each is given once.
  static void note_name(const JsonNode& node, const std::string& name,
                        std::map<std::string, MemoryId>& names) {
    if (!names.emplace(name, static_cast<MemoryId>(names.size())).second)
      node.fail("the name '{}' is given a second time", name);
  }

  void read_memories(const JsonNode& list) {
    const std::vector<JsonNode> memories = list.as_array();
    if (memories.empty()) list.expected("at least one memory");
    if (memories.size() > most_memories)
      list.fail("expected at most {} memories, found {}", most_memories, memories.size());
    for (const JsonNode& object : memories) {
      object.allow_only({"name", "kind", "capacity", "numa", "note", "source"});
      const JsonNode name = given_name(object);
      note_name(name, name.as_string(), memory_names_);
      const MemoryKind kind = memory_kind_of(object.at("kind"));
      const bool on_board = kind == MemoryKind::system || kind == MemoryKind::pinned;
      machine_.add(kind, name.as_string(), capacity_of(object.at("capacity")),
                   integer_at(object, "numa", 0, most_memories - 1, on_board ? 0 : -1));
    }
  }

  Memory& memory_called(const JsonNode& node) {
    if (const auto found = memory_names_.find(node.as_string()); found != memory_names_.end())
      return machine_.memories[found->second];
    const auto known = std::views::keys(memory_names_);
    const std::vector<std::string_view> names(known.begin(), known.end());
    node.fail("no memory is called '{}'{}", node.as_string(),
              did_you_mean(node.as_string(), names));
  }

  // With a "count", processors that differ only in their numbers: "core" makes core0, core1, ...
  void read_processor(const JsonNode& object) {
    object.allow_only({"name", "kind", "count", "numa", "memories", "bandwidths", "flops", "launch",
                       "cpus", "emulated", "note", "source"});
    const auto count = static_cast<std::size_t>(integer_at(object, "count", 1, most_processors, 1));
    if (machine_.processors.size() + count > most_processors)
      object.fail("expected at most {} processors in all", most_processors);
    const JsonNode given = given_name(object);
    const ProcessorTraits& traits = processor_kind_of(object.at("kind"));
    const JsonNode list = object.at("memories");
    const std::vector<MemoryId> reached = read_reached(list, traits);
    const std::vector<int> cpus = read_cpus(object, count);
    const std::vector<double> bandwidths = read_bandwidths(object, reached.size());
    const double flops = read_flops(object);
    const auto launch = object.find("launch"), emulated = object.find("emulated");
    const double launch_seconds = launch ? duration_of(*launch) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = given.as_string() + (object.find("count") ? std::to_string(i) : "");
      note_name(given, name, processor_names_);
      Processor& processor = machine_.add(
          traits.kind, name, integer_at(object, "numa", 0, most_memories - 1, 0), reached);
      processor.flops = flops;
      processor.bandwidths = bandwidths;
      processor.launch_seconds = launch_seconds;
      processor.emulated = emulated && emulated->as_bool();
      if (!cpus.empty()) processor.cpus = {cpus[i]};
      if (traits.is_device) claim_framebuffer(processor, list);
    }
  }

  std::vector<MemoryId> read_reached(const JsonNode& list, const ProcessorTraits& traits) {
    const MemoryKind needed = traits.memories.front();
    std::vector<MemoryId> reached;
    bool has_needed = false;
    for (const JsonNode& node : list.as_array()) {
      const Memory& memory = memory_called(node);
      if (!may_reach(traits.kind, memory.kind))
        node.fail("a {} cannot reach the {} memory '{}'", traits.name, to_string(memory.kind),
                  memory.name);
      if (std::ranges::find(reached, memory.id) != reached.end())
        node.fail("'{}' is given a second time", memory.name);
      has_needed = has_needed || memory.kind == needed;
      reached.push_back(memory.id);
    }
    if (!has_needed)
      list.fail("expected at least one {} memory, since a {} needs one", to_string(needed),
                traits.name);
    return reached;
  }

  static double read_flops(const JsonNode& object) {
    const auto flops = object.find("flops");
    if (!flops) return 0;
    return quantity_of(
        *flops, parse_flops, std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::max(),
        "a rate above 0 such as \"9.3TFlop/s\" or a number of operations per second");
  }

  static std::vector<double> read_bandwidths(const JsonNode& object, std::size_t memories) {
    std::vector<double> bandwidths;
    const auto list = object.find("bandwidths");
    if (!list) return bandwidths;
    for (const JsonNode& node : list->as_array()) bandwidths.push_back(bandwidth_of(node));
    if (bandwidths.size() != memories)
      list->fail("expected {} bandwidth{}, one per memory in 'memories', found {}", memories,
                 memories == 1 ? "" : "s", bandwidths.size());
    return bandwidths;
  }

  static std::vector<int> read_cpus(const JsonNode& object, std::size_t count) {
    std::vector<int> cpus;
    const auto list = object.find("cpus");
    if (!list) return cpus;
    for (const JsonNode& node : list->as_array())
      cpus.push_back(static_cast<int>(node.as_integer(0, 1 << 20)));
    if (cpus.size() != count)
      list->fail("expected {} hardware thread number{}, one per processor, found {}", count,
                 count == 1 ? "" : "s", cpus.size());
    return cpus;
  }

  // The first framebuffer in a gpu's list is its own; others are its peers'.
  void claim_framebuffer(const Processor& gpu, const JsonNode& list) {
    for (const JsonNode& node : list.as_array()) {
      Memory& memory = memory_called(node);
      if (memory.kind != MemoryKind::framebuffer) continue;
      if (memory.owner)
        node.fail(
            "framebuffer '{}' belongs to '{}' already; the first framebuffer in a gpu's list "
            "is its own",
            memory.name, machine_.processors[*memory.owner].name);
      memory.owner = gpu.id;
      return;
    }
  }

  void read_link(const JsonNode& object) {
    object.allow_only({"from", "to", "between", "bandwidth", "latency", "note", "source"});
    const auto between = object.find("between");
    const bool is_directed = object.find("from") || object.find("to");
    if (between && is_directed)
      object.fail("a link has either 'between' (both ways) or 'from' and 'to', found both");
    if (!between && !is_directed)
      object.fail("a link needs 'between' (both ways) or 'from' and 'to'");
    const std::vector<JsonNode> ends =
        between ? between->as_array() : std::vector{object.at("from"), object.at("to")};
    if (ends.size() != 2)
      object.at("between").fail("expected the names of two memories, found {}", ends.size());
    const Link link{memory_called(ends[0]).id, memory_called(ends[1]).id,
                    bandwidth_of(object.at("bandwidth")),
                    duration_of(object.at("latency"), "a latency")};
    if (between) machine_.join(link);
    else machine_.links.push_back(link);
  }

  Description machine_;
  std::map<std::string, MemoryId> memory_names_, processor_names_;
};

}  // namespace

Machine parse_json(std::string text, const std::string& file) {
  return JsonForm().read(JsonFile(std::move(text), file).root(), Settings({}, 0, kFileSettings));
}

namespace {

namespace fs = std::filesystem;

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".json");
}

// What stands before the settings: "lassen" of "lassen:nodes=4", and "a:b/lassen.json" of "a:b/lassen.json:nodes=4".
std::string_view without_settings(std::string_view description) {
  constexpr std::string_view end = ".json:";
  if (const auto at = description.rfind(end); at != std::string_view::npos)
    return description.substr(0, at + end.size() - 1);
  return is_path(description) ? description : description.substr(0, description.find(':'));
}

// The folders of machines that have a name: here, and that beside a program that is built or installed (CMakeLists.txt,
// cmake/Install.cmake).
std::vector<fs::path> named_machines() {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  return {"machines", program.parent_path().parent_path() / "share/refrain/machines"};
}

std::string find_file(std::string_view name, std::string_view description) {
  std::error_code none;
  if (is_path(name) || fs::is_regular_file(name, none)) return std::string(name);
  std::set<std::string> found{"emulated"};
  for (const fs::path& folder : named_machines()) {
    const fs::path file = folder / (std::string(name) + ".json");
    if (fs::is_regular_file(file, none)) return file.string();
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
      if (entry.path().extension() == ".json") found.insert(entry.path().stem().string());
  }
  const std::vector<std::string_view> known(found.begin(), found.end());
  const std::string nearest = did_you_mean(name, known);
  throw InputError(fmt::format(
      "machine description '{}':1:1: no machine is called '{}', and no file; known are {}{}",
      description, name, joined(known), nearest.starts_with("; known") ? "" : nearest));
}

}  // namespace

// A file may be called "emulated.json".
bool is_short_form(std::string_view description) {
  return description == "emulated" || description.starts_with("emulated:");
}

Machine load(std::string_view description) {
  const bool emulated = is_short_form(description);
  if (emulated || description.empty()) {
    // Looking takes some twenty milliseconds, and a machine does not change while the process lives.
    static const Hardware hardware = find_hardware();
    return emulated ? read_short_form(description, hardware) : assemble("this machine", hardware);
  }
  const std::string_view name = without_settings(description);
  const std::string path = find_file(name, description);
  const Settings settings(description, name.size() + 1, kFileSettings);
  std::string text;
  try {
    text = JsonFile::read(path, "machine description");
  } catch (const InputError& error) {
    throw InputError(std::string(error.what()) +
                     "; expected a JSON file, or a text that starts with 'emulated:'");
  }
  return JsonForm().read(JsonFile(std::move(text), path).root(), settings);
}

}  // namespace refrain::machine
