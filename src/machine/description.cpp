// Machines from descriptions, and back: the short form and the JSON form, docs/machine.md; and the table for people.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <ranges>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "machine/machine.hpp"
#include "refrain/error.hpp"

namespace refrain::machine {

namespace {

constexpr std::uint64_t default_size = std::uint64_t{256} << 20;  // on a GPU, and pinned

// "emulated:gpus=2,framebuffer=64MiB": the machine found, changed by a few settings. An emulated GPU is a worker thread
// with a framebuffer of its own, an arena of main memory that nothing else touches, so that every copy to and from a GPU
// happens for real.
class ShortForm {
 public:
  explicit ShortForm(std::string_view text) : text_(text) {
    const std::size_t begin = std::min(text.size(), std::string_view("emulated:").size());
    for (const auto setting : std::views::split(text.substr(begin), ','))
      read({setting.begin(), setting.end()});
  }

  Machine change(Hardware hardware) const {
    hardware.gpus = at("gpus", 0);
    if (has("framebuffer") && hardware.gpus == 0)
      fail(text_.substr(text_.find("framebuffer")),
           "a framebuffer needs a gpu; expected 'gpus=' with at least 1");
    hardware.framebuffer = at("framebuffer", default_size);
    hardware.pinned = at("pinned", hardware.gpus > 0 ? default_size : 0);
    // Cpus that are asked for are unbound threads that the operating system places, since there may be more of them
    // than cores.
    const std::size_t cpus = at("cpus", hardware.cpus.size());
    const std::size_t domains = at("numa", has("cpus") ? 1 : hardware.domains.size());
    if (domains > cpus)
      fail(text_.substr(text_.find("numa")),
           "expected at most one NUMA domain per cpu, found numa={} with {} cpus", domains, cpus);
    if (has("cpus")) hardware.cpus.assign(cpus, {.emulated = true});
    if (has("cpus") || has("numa"))
      for (std::size_t i = 0; i < cpus; ++i)
        hardware.cpus[i].domain = static_cast<int>(i * domains / cpus);
    const std::uint64_t all = std::reduce(hardware.domains.begin(), hardware.domains.end());
    hardware.domains.assign(domains, at("system", all / domains));
    return assemble(std::string(text_), hardware);
  }

 private:
  // The first three are numbers, the others sizes.
  static constexpr std::array<std::string_view, 6> known_{"cpus",   "gpus",        "numa",
                                                          "system", "framebuffer", "pinned"};

  /// `where`: the part of the text that is wrong.
  template <class... Values>
  [[noreturn]] void fail(std::string_view where, fmt::format_string<Values...> message,
                         Values&&... values) const {
    throw InputError(fmt::format("machine description '{}':1:{}: {}", text_,
                                 where.data() - text_.data() + 1,
                                 fmt::format(message, std::forward<Values>(values)...)));
  }

  void read(std::string_view setting) {
    const std::string_view name = setting.substr(0, setting.find('='));
    const auto* const known = std::ranges::find(known_, name);
    if (known == known_.end()) fail(name, "unknown name '{}'{}", name, did_you_mean(name, known_));
    if (name == setting)
      fail(setting.substr(name.size()), "expected '=' and a value after '{}'", name);
    if (has(name)) fail(name, "'{}' is given a second time", name);
    const std::string_view value = setting.substr(name.size() + 1);
    const bool is_size = known >= known_.begin() + 3;
    const std::uint64_t least = name == "gpus" ? 0 : 1;
    const std::uint64_t most = is_size ? INT64_MAX : most_processors;
    const bool has_unit = value.find_first_not_of("0123456789") != std::string_view::npos;
    const auto number = is_size || !has_unit ? parse_size(value) : std::nullopt;
    if (!number || *number < least || *number > most)
      fail(value, "expected {} for '{}', found '{}'",
           is_size ? "a size above 0 such as 64MiB"
                   : fmt::format("a whole number from {} to {}", least, most),
           name, value);
    settings_.emplace(name, *number);
  }

  [[nodiscard]] bool has(std::string_view name) const { return settings_.contains(name); }
  [[nodiscard]] std::uint64_t at(std::string_view name, std::uint64_t otherwise) const {
    return has(name) ? settings_.at(name) : otherwise;
  }

  const std::string_view text_;
  std::map<std::string_view, std::uint64_t> settings_;
};

// The JSON form. Every mistake, of syntax or of meaning, is reported at the line and column of the value that is wrong.

// The table of ways grows with the square, its making with the cube.
constexpr int most_memories = 1024;

/// A number, or a text that `parse` reads, from `least` to `most`.
double quantity_of(const JsonNode& node, std::optional<double> (*parse)(std::string_view),
                   double least, double most, std::string_view what) {
  std::optional<double> value;
  if (node.value().is_number()) value = node.as_number();
  if (node.value().is_string()) value = parse(node.as_string());
  if (!value || !(*value >= least && *value <= most)) node.expected(what);
  return *value;
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
  Machine read(const JsonNode& root) {
    root.allow_only({"name", "processors", "memories", "links"});
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
    if (const auto links = root.find("links"))
      for (const JsonNode& link : links->as_array()) read_link(link);
    machine_.add_gangs();
    Machine machine = std::move(machine_).build();
    for (const Memory& from : machine.memories())  // data may have to go from any to any other
      for (const Memory& to : machine.memories())
        if (!std::isfinite(machine.copy_seconds(from.id, to.id, 1)))
          name_of(to).fail("no links lead from memory '{}' to memory '{}'", from.name, to.name);
    return machine;
  }

 private:
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
      object.allow_only({"name", "kind", "capacity", "numa"});
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
    object.allow_only({"name", "kind", "count", "numa", "memories", "cpus", "emulated"});
    const auto count = static_cast<std::size_t>(integer_at(object, "count", 1, most_processors, 1));
    if (machine_.processors.size() + count > most_processors)
      object.fail("expected at most {} processors in all", most_processors);
    const JsonNode given = given_name(object);
    const ProcessorTraits& traits = processor_kind_of(object.at("kind"));
    const JsonNode list = object.at("memories");
    const std::vector<MemoryId> reached = read_reached(list, traits);
    const std::vector<int> cpus = read_cpus(object, count);
    const auto emulated = object.find("emulated");
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = given.as_string() + (object.find("count") ? std::to_string(i) : "");
      note_name(given, name, processor_names_);
      Processor& processor = machine_.add(
          traits.kind, name, integer_at(object, "numa", 0, most_memories - 1, 0), reached);
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
    object.allow_only({"from", "to", "between", "bandwidth", "latency"});
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
    const Link link{
        memory_called(ends[0]).id, memory_called(ends[1]).id,
        quantity_of(object.at("bandwidth"), parse_bandwidth,
                    std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(),
                    "a bandwidth above 0 such as \"16GB/s\" or a number of bytes per second"),
        quantity_of(object.at("latency"), parse_duration, 0, 3600,
                    "a latency of at most an hour such as \"1.5us\", or a number of seconds from 0 "
                    "to 3600")};
    if (between) machine_.join(link);
    else machine_.links.push_back(link);
  }

  Description machine_;
  std::map<std::string, MemoryId> memory_names_, processor_names_;
};

}  // namespace

Machine parse_json(std::string text, const std::string& file) {
  return JsonForm().read(JsonFile(std::move(text), file).root());
}

namespace {

// A file may be called "emulated.json"; only "emulated" and "emulated:..." are the short form.
bool is_short_form(std::string_view description) {
  return description == "emulated" || description.starts_with("emulated:");
}

}  // namespace

Machine load(std::string_view description) {
  const bool emulated = is_short_form(description);
  if (emulated || description.empty()) {
    // Looking takes some twenty milliseconds, and a machine does not change while the process lives.
    static const Hardware hardware = find_hardware();
    return emulated ? ShortForm(description).change(hardware) : assemble("this machine", hardware);
  }
  const std::string path(description);
  std::string text;
  try {
    text = JsonFile::read(path, "machine description");
  } catch (const InputError& error) {  // a mistyped short form ends up here
    throw InputError(std::string(error.what()) +
                     "; expected a JSON file, or a text that starts with 'emulated:'");
  }
  return parse_json(std::move(text), path);
}

std::string to_json(const Machine& machine) {
  using Json = nlohmann::ordered_json;
  const auto name_of = [&](MemoryId id) { return machine.memory(id).name; };
  // Quantities are written for people where that loses nothing, else as plain numbers.
  const auto quantity = [](double value, auto* write, auto* parse) {
    const std::string text = write(value);
    return parse(text) == value ? Json(text) : Json(value);
  };
  Json root{{"name", machine.name()}};
  for (const Memory& m : machine.memories()) {
    Json& object = root["memories"].emplace_back(
        Json{{"name", m.name}, {"kind", to_string(m.kind)}, {"capacity", exact_size(m.capacity)}});
    if (m.numa >= 0) object["numa"] = m.numa;
  }
  for (const Processor& p : machine.processors()) {
    if (p.kind == ProcessorKind::gang) continue;
    Json& object = root["processors"].emplace_back(
        Json{{"name", p.name}, {"kind", to_string(p.kind)}, {"numa", p.numa}});
    std::ranges::transform(p.memories, std::back_inserter(object["memories"] = Json::array()),
                           name_of);
    if (!p.cpus.empty()) object["cpus"] = p.cpus;
    if (p.emulated) object["emulated"] = true;
  }
  root["links"] = Json::array();
  for (const Link& link : machine.links())
    root["links"].push_back(
        {{"from", name_of(link.from)},
         {"to", name_of(link.to)},
         {"bandwidth", quantity(link.bandwidth, short_bandwidth, parse_bandwidth)},
         {"latency", quantity(link.latency, short_duration, parse_duration)}});
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string in_ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0, last = 0; i < numbers.size(); i = ++last) {
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (i > 0) text += ", ";
    text += std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
  }
  return text;
}

namespace {

// Every column is as wide as its widest cell, with two blanks between.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format(" {:<{}} ", row[c], width[c]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string runs_on(const Processor& processor) {
  if (traits_of(processor.kind).is_device) return processor.emulated ? "a worker thread" : "device";
  if (processor.cpus.empty()) return "not bound";
  return "hardware thread" + std::string(processor.cpus.size() > 1 ? "s " : " ") +
         in_ranges(processor.cpus);
}

}  // namespace

std::string to_outline(const Machine& machine, std::string_view description) {
  std::string text = fmt::format(
      "cores: {}, GPUs: {}, NUMA domains: {}", machine.processors(ProcessorKind::cpu).size(),
      machine.processors(ProcessorKind::gpu).size(), machine.memories(MemoryKind::system).size());
  // Which cores are where: the gangs' members.
  const auto gangs = machine.processors(ProcessorKind::gang);
  for (std::size_t i = 0; i < gangs.size() && gangs.size() > 1; ++i) {
    const Processor& gang = machine.processor(gangs[i]);
    text += fmt::format("{}{}", i == 0 ? " of cores " : " | ",
                        in_ranges({gang.members.begin(), gang.members.end()}));
  }
  if (!description.empty() && !is_short_form(description)) {
    const std::string all = to_json(machine);
    text += fmt::format(", description {:016x}", hash_bytes(all.data(), all.size()));
  }
  return text;
}

std::string to_table(const Machine& machine) {
  std::vector<std::vector<std::string>> processors{
      {"id", "name", "kind", "numa", "runs on", "reaches (best first)"}};
  for (const Processor& p : machine.processors()) {
    std::vector<std::string_view> reached;
    reached.reserve(p.memories.size());
    for (MemoryId m : p.memories) reached.push_back(machine.memory(m).name);
    processors.push_back({std::to_string(p.id), p.name,
                          fmt::format("{}{}", to_string(p.kind), p.emulated ? " (emulated)" : ""),
                          std::to_string(p.numa), runs_on(p), joined(reached)});
  }
  std::vector<std::vector<std::string>> memories{
      {"id", "name", "kind", "capacity", "numa", "belongs to"}};
  for (const Memory& m : machine.memories())
    memories.push_back({std::to_string(m.id), m.name, std::string(to_string(m.kind)),
                        short_size(m.capacity), m.numa < 0 ? "-" : std::to_string(m.numa),
                        m.owner ? machine.processor(*m.owner).name : "-"});
  std::vector<std::vector<std::string>> links{{"from", "to", "bandwidth", "latency"}};
  for (const Link& link : machine.links())
    links.push_back({machine.memory(link.from).name, machine.memory(link.to).name,
                     short_bandwidth(link.bandwidth), short_duration(link.latency)});
  return fmt::format(
      "machine: {}\n\nprocessors\n{}\nmemories\n{}\nlinks (nominal unless a description gave "
      "them)\n{}",
      machine.name(), table(processors), table(memories), table(links));
}

}  // namespace refrain::machine
