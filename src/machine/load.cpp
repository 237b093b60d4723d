// Machines from descriptions: the short form and the JSON form, docs/machine.md.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "base/json.hpp"
#include "base/text.hpp"
#include "machine/machine.hpp"
#include "refrain/error.hpp"

namespace refrain::machine {

namespace {

// A mistyped short form ends up here, so the error speaks of both.
std::string read_file(const std::string& path) {
  try {
    return JsonFile::read(path, "machine description");
  } catch (const InputError& error) {
    throw InputError(std::string(error.what()) +
                     "; expected a JSON file, or a text that starts with 'emulated:'");
  }
}

}  // namespace

Machine load(std::string_view description) {
  if (description.empty()) {
    // Looking takes some twenty milliseconds, and what is found does not change while the process lives.
    static const Machine found = discover();
    return found;
  }
  // A file may be called "emulated.json"; only "emulated" and "emulated:..." are the short form.
  if (description == "emulated" || description.starts_with("emulated:"))
    return parse_short_form(description);
  const std::string path(description);
  return parse_json(read_file(path), path);
}

// "emulated:gpus=2,framebuffer=64MiB": the real machine, changed by a few settings. An emulated GPU is a
// worker thread with a framebuffer of its own, an arena of main memory that nothing else touches, so that
// every copy to and from a GPU happens for real.

namespace {

constexpr std::uint64_t default_framebuffer = std::uint64_t{256} << 20;
constexpr std::uint64_t default_pinned = std::uint64_t{256} << 20;

struct Settings {
  std::optional<int> cpus, gpus, numa;
  std::optional<std::uint64_t> system, framebuffer, pinned;
};

struct Setting {
  std::string_view name;
  std::optional<int> Settings::*count;
  std::optional<std::uint64_t> Settings::*size;
};
constexpr std::array<Setting, 6> known_settings{{{"cpus", &Settings::cpus, nullptr},
                                                 {"gpus", &Settings::gpus, nullptr},
                                                 {"numa", &Settings::numa, nullptr},
                                                 {"system", nullptr, &Settings::system},
                                                 {"framebuffer", nullptr, &Settings::framebuffer},
                                                 {"pinned", nullptr, &Settings::pinned}}};

class ShortForm {
 public:
  explicit ShortForm(std::string_view text) : text_(text) {}

  Settings read() {
    at_ = std::string_view("emulated").size();
    if (at_ == text_.size()) return {};
    if (text_[at_] != ':')
      fail(at_, fmt::format("expected ':' after 'emulated', found '{}'", text_[at_]));
    if (++at_ == text_.size()) return {};
    Settings settings;
    for (;;) {
      read_setting(settings);
      if (at_ == text_.size()) break;
      ++at_;  // the comma
    }
    check(settings);
    return settings;
  }

 private:
  [[noreturn]] void fail(std::size_t offset, const std::string& message) const {
    throw InputError(fmt::format("machine description '{}':1:{}: {}", text_, offset + 1, message));
  }

  void read_setting(Settings& settings) {
    const std::size_t begin = at_;
    const std::size_t end = std::min(text_.find(',', begin), text_.size());
    const std::string_view setting = text_.substr(begin, end - begin);
    const std::size_t equals = setting.find('=');
    const std::string_view name = setting.substr(0, equals);
    const Setting& known = find(begin, name);
    if (equals == std::string_view::npos)
      fail(end, fmt::format("expected '=' and a value after '{}'", name));
    const std::string_view value = setting.substr(equals + 1);
    const std::size_t where = begin + equals + 1;
    if (known.count != nullptr ? (settings.*known.count).has_value()
                               : (settings.*known.size).has_value())
      fail(begin, fmt::format("'{}' is given a second time", name));
    if (known.count != nullptr)
      settings.*known.count = count(where, name, value, known.count == &Settings::gpus ? 0 : 1);
    else settings.*known.size = size(where, name, value);
    at_ = end;
  }

  const Setting& find(std::size_t begin, std::string_view name) const {
    std::array<std::string_view, known_settings.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (known_settings[i].name == name) return known_settings[i];
      names[i] = known_settings[i].name;
    }
    fail(begin, fmt::format("unknown name '{}'{}", name, did_you_mean(name, names)));
  }

  int count(std::size_t where, std::string_view name, std::string_view value, int least) const {
    int number = 0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || stop != end || number < least || number > most_processors)
      fail(where, fmt::format("expected a whole number from {} to {} for '{}', found '{}'", least,
                              most_processors, name, value));
    return number;
  }

  std::uint64_t size(std::size_t where, std::string_view name, std::string_view value) const {
    const auto bytes = parse_size(value);
    if (!bytes || *bytes == 0)
      fail(where,
           fmt::format("expected a size above 0 such as 64MiB for '{}', found '{}'", name, value));
    return *bytes;
  }

  void check(const Settings& settings) const {
    const int gpus = settings.gpus.value_or(0);
    if (settings.framebuffer && gpus == 0)
      fail(text_.find("framebuffer"),
           "a framebuffer needs a gpu; expected 'gpus=' with at least 1");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The cpus of the description: the real ones, or as many as asked for. Asked for, they are unbound
// threads that the operating system places, since there may be more of them than cores.
void set_cpus(Description& machine, const Description& real, const Settings& settings,
              std::string_view text) {
  const int count = settings.cpus.value_or(static_cast<int>(real.processors.size()));
  const int domains =
      settings.numa.value_or(settings.cpus ? 1 : static_cast<int>(real.memories.size()));
  if (domains > count)
    throw InputError(
        fmt::format("machine description '{}':1:{}: expected at most one NUMA domain "
                    "per cpu, found numa={} with {} cpus",
                    text, text.find("numa") + 1, domains, count));
  std::uint64_t total = 0;
  for (const Memory& memory : real.memories) total += memory.capacity;
  for (int d = 0; d < domains; ++d)
    machine.add(MemoryKind::system, fmt::format("system{}", d),
                settings.system.value_or(total / static_cast<std::uint64_t>(domains)), d);
  for (int i = 0; i < count; ++i) {
    const bool as_found = !settings.cpus && !settings.numa;
    const int numa = as_found ? real.processors[static_cast<std::size_t>(i)].numa
                              : static_cast<int>(std::int64_t{i} * domains / count);
    std::vector<MemoryId> reached{static_cast<MemoryId>(numa)};
    for (MemoryId m = 0; m < static_cast<MemoryId>(domains); ++m)
      if (m != static_cast<MemoryId>(numa)) reached.push_back(m);
    const ProcessorId id =
        machine.add(ProcessorKind::cpu, fmt::format("cpu{}", i), numa, std::move(reached));
    if (settings.cpus) machine.processors[id].emulated = true;
    else machine.processors[id].cpus = real.processors[static_cast<std::size_t>(i)].cpus;
  }
}

void add_gpus(Description& machine, const Settings& settings) {
  const auto domains = static_cast<MemoryId>(machine.memories.size());
  const int gpus = settings.gpus.value_or(0);
  if (gpus == 0 && !settings.pinned) return;
  const MemoryId pinned =
      machine.add(MemoryKind::pinned, "pinned0", settings.pinned.value_or(default_pinned), 0);
  for (Processor& cpu : machine.processors) cpu.memories.push_back(pinned);
  for (int g = 0; g < gpus; ++g) {
    const int numa = static_cast<int>(std::int64_t{g} * static_cast<int>(domains) / gpus);
    const MemoryId framebuffer =
        machine.add(MemoryKind::framebuffer, fmt::format("framebuffer{}", g),
                    settings.framebuffer.value_or(default_framebuffer), numa);
    const ProcessorId gpu =
        machine.add(ProcessorKind::gpu, fmt::format("gpu{}", g), numa, {framebuffer, pinned});
    machine.processors[gpu].emulated = true;
    machine.memories[framebuffer].owner = gpu;
  }
}

}  // namespace

Machine parse_short_form(std::string_view text) {
  const Settings settings = ShortForm(text).read();
  Description machine;
  machine.name = std::string(text);
  set_cpus(machine, discover_description(), settings, text);
  add_gpus(machine, settings);
  machine.add_nominal_links();
  machine.add_gangs();
  return std::move(machine).build();
}

// The JSON form of a machine description, docs/machine.md. Every mistake, of syntax or of meaning, is
// reported at the line and column of the value that is wrong.

namespace {

constexpr int most_memories =
    1024;  // the table of ways grows with the square, its making with the cube

std::uint64_t capacity_of(const JsonNode& node) {
  if (node.kind() == JsonNode::Kind::number)
    return static_cast<std::uint64_t>(node.as_integer(1, INT64_MAX));
  if (node.kind() == JsonNode::Kind::string)
    if (const auto bytes = parse_size(node.as_string()); bytes && *bytes > 0) return *bytes;
  node.expected("a size above 0 such as \"64MiB\" or a number of bytes");
}

/// A number, or a text that `parse` reads, which is `valid`.
template <class Valid>
double quantity_of(const JsonNode& node, std::optional<double> (*parse)(std::string_view),
                   Valid valid, std::string_view what) {
  std::optional<double> value;
  if (node.kind() == JsonNode::Kind::number) value = node.as_number();
  if (node.kind() == JsonNode::Kind::string) value = parse(node.as_string());
  if (!value || !valid(*value)) node.expected(what);
  return *value;
}

double bandwidth_of(const JsonNode& node) {
  return quantity_of(
      node, parse_bandwidth, [](double value) { return value > 0 && std::isfinite(value); },
      "a bandwidth above 0 such as \"16GB/s\" or a number of bytes per second");
}

double latency_of(const JsonNode& node) {
  return quantity_of(
      node, parse_duration, [](double value) { return value >= 0 && value <= 3600; },
      "a latency of at most an hour such as \"1.5us\", or a number of seconds from 0 to 3600");
}

int numa_of(const JsonNode& object, int otherwise) {
  const JsonNode* node = object.find("numa");
  return node == nullptr ? otherwise : static_cast<int>(node->as_integer(0, most_memories - 1));
}

MemoryKind memory_kind_of(const JsonNode& node) {
  for (MemoryKind kind :
       {MemoryKind::system, MemoryKind::pinned, MemoryKind::framebuffer, MemoryKind::file})
    if (node.as_string() == to_string(kind)) return kind;
  node.expected("a memory kind (system, pinned, framebuffer or file)");
}

ProcessorKind processor_kind_of(const JsonNode& node) {
  if (node.as_string() == "cpu") return ProcessorKind::cpu;
  if (node.as_string() == "gpu") return ProcessorKind::gpu;
  if (node.as_string() == "gang")
    node.fail(
        "gangs are not described: there is one for the cpus of each NUMA domain; expected cpu or "
        "gpu");
  node.expected("a processor kind (cpu or gpu)");
}

class JsonForm {
 public:
  explicit JsonForm(const JsonFile& file) : root_(file.root()) {}

  Machine read() {
    root_.allow_only({"name", "processors", "memories", "links"});
    const JsonNode* name = root_.find("name");
    machine_.name = name != nullptr ? name->as_string() : "described machine";
    read_memories(root_.at("memories"));
    read_processors(root_.at("processors"));
    check_framebuffers();
    if (const JsonNode* links = root_.find("links"))
      for (const JsonNode& link : links->as_array()) read_link(link);
    machine_.add_gangs();
    Machine machine = std::move(machine_).build();
    check_connected(machine);
    return machine;
  }

 private:
  // Names are what the rest of the file refers to, so each is given once.
  const std::string& new_name(const JsonNode& object, std::map<std::string, std::size_t>& names) {
    const JsonNode& node = object.at("name");
    const std::string& name = node.as_string();
    if (name.empty()) node.expected("a name");
    note_name(node, name, names);
    return name;
  }
  void note_name(const JsonNode& node, const std::string& name,
                 std::map<std::string, std::size_t>& names) {
    if (!names.emplace(name, names.size()).second)
      node.fail(fmt::format("the name '{}' is given a second time", name));
  }

  void read_memories(const JsonNode& list) {
    if (list.as_array().empty()) list.expected("at least one memory");
    if (list.as_array().size() > most_memories)
      list.fail(fmt::format("expected at most {} memories, found {}", most_memories,
                            list.as_array().size()));
    for (const JsonNode& object : list.as_array()) {
      object.allow_only({"name", "kind", "capacity", "numa"});
      const std::string& name = new_name(object, memory_names_);
      const MemoryKind kind = memory_kind_of(object.at("kind"));
      const bool on_board = kind == MemoryKind::system || kind == MemoryKind::pinned;
      machine_.add(kind, name, capacity_of(object.at("capacity")),
                   numa_of(object, on_board ? 0 : -1));
      memory_nodes_.push_back(&object.at("name"));
    }
  }

  MemoryId memory_called(const JsonNode& node) const {
    if (const auto found = memory_names_.find(node.as_string()); found != memory_names_.end())
      return static_cast<MemoryId>(found->second);
    std::vector<std::string_view> names;
    names.reserve(memory_names_.size());
    for (const auto& [name, id] : memory_names_) names.push_back(name);
    node.fail(fmt::format("no memory is called '{}'{}", node.as_string(),
                          did_you_mean(node.as_string(), names)));
  }

  void read_processors(const JsonNode& list) {
    bool has_cpu = false;
    for (const JsonNode& object : list.as_array()) {
      read_processor(object);
      has_cpu = has_cpu || machine_.processors.back().kind == ProcessorKind::cpu;
    }
    if (!has_cpu) list.fail("expected at least one processor of kind 'cpu', found none");
  }

  // With a "count", processors that differ only in their numbers: "core" makes core0, core1, ...
  void read_processor(const JsonNode& object) {
    object.allow_only({"name", "kind", "count", "numa", "memories", "cpus", "emulated"});
    const JsonNode* count_node = object.find("count");
    const int count =
        count_node == nullptr ? 1 : static_cast<int>(count_node->as_integer(1, most_processors));
    if (machine_.processors.size() + static_cast<std::size_t>(count) > most_processors)
      object.fail(fmt::format("expected at most {} processors in all", most_processors));
    const JsonNode& name_node = object.at("name");
    if (name_node.as_string().empty()) name_node.expected("a name");
    const ProcessorKind kind = processor_kind_of(object.at("kind"));
    const std::vector<MemoryId> reached = read_reached(object.at("memories"), kind);
    const std::vector<int> cpus = read_cpus(object, count);
    const JsonNode* emulated = object.find("emulated");
    for (int i = 0; i < count; ++i) {
      const std::string name = count_node == nullptr
                                   ? name_node.as_string()
                                   : fmt::format("{}{}", name_node.as_string(), i);
      note_name(name_node, name, processor_names_);
      const ProcessorId id = machine_.add(kind, name, numa_of(object, 0), reached);
      Processor& processor = machine_.processors[id];
      processor.emulated = emulated != nullptr && emulated->as_bool();
      if (!cpus.empty()) processor.cpus = {cpus[static_cast<std::size_t>(i)]};
      if (kind == ProcessorKind::gpu) claim_framebuffer(id, object.at("memories"));
    }
  }

  std::vector<MemoryId> read_reached(const JsonNode& list, ProcessorKind kind) const {
    const MemoryKind needed =
        kind == ProcessorKind::cpu ? MemoryKind::system : MemoryKind::framebuffer;
    std::vector<MemoryId> reached;
    bool has_needed = false;
    for (const JsonNode& node : list.as_array()) {
      const MemoryId memory = memory_called(node);
      const MemoryKind memory_kind = machine_.memories[memory].kind;
      if (!may_reach(kind, memory_kind))
        node.fail(fmt::format("a {} cannot reach the {} memory '{}'", to_string(kind),
                              to_string(memory_kind), node.as_string()));
      if (std::find(reached.begin(), reached.end(), memory) != reached.end())
        node.fail(fmt::format("'{}' is given a second time", node.as_string()));
      has_needed = has_needed || memory_kind == needed;
      reached.push_back(memory);
    }
    if (!has_needed)
      list.fail(fmt::format("expected at least one {} memory, since a {} needs one",
                            to_string(needed), to_string(kind)));
    return reached;
  }

  std::vector<int> read_cpus(const JsonNode& object, int count) const {
    std::vector<int> cpus;
    const JsonNode* list = object.find("cpus");
    if (list == nullptr) return cpus;
    for (const JsonNode& node : list->as_array())
      cpus.push_back(static_cast<int>(node.as_integer(0, 1 << 20)));
    if (cpus.size() != static_cast<std::size_t>(count))
      list->fail(fmt::format("expected {} hardware thread number{}, one per processor, found {}",
                             count, count == 1 ? "" : "s", cpus.size()));
    return cpus;
  }

  // The first framebuffer in a gpu's list is its own; others are its peers'.
  void claim_framebuffer(ProcessorId gpu, const JsonNode& list) {
    for (const JsonNode& node : list.as_array()) {
      Memory& memory = machine_.memories[memory_called(node)];
      if (memory.kind != MemoryKind::framebuffer) continue;
      if (memory.owner)
        node.fail(
            fmt::format("framebuffer '{}' belongs to '{}' already; the first framebuffer in a "
                        "gpu's list is its own",
                        memory.name, machine_.processors[*memory.owner].name));
      memory.owner = gpu;
      return;
    }
  }

  void check_framebuffers() const {
    for (const Memory& memory : machine_.memories)
      if (memory.kind == MemoryKind::framebuffer && !memory.owner)
        memory_nodes_[memory.id]->fail(fmt::format(
            "framebuffer '{}' belongs to no gpu; expected one that lists it first", memory.name));
  }

  void read_link(const JsonNode& object) {
    object.allow_only({"from", "to", "between", "bandwidth", "latency"});
    const JsonNode* between = object.find("between");
    if (between != nullptr && (object.find("from") != nullptr || object.find("to") != nullptr))
      object.fail("a link has either 'between' (both ways) or 'from' and 'to', found both");
    MemoryId from = 0, to = 0;
    if (between != nullptr) {
      if (between->as_array().size() != 2)
        between->fail(fmt::format("expected the names of two memories, found {}",
                                  between->as_array().size()));
      from = memory_called(between->as_array()[0]);
      to = memory_called(between->as_array()[1]);
    } else {
      if (object.find("from") == nullptr && object.find("to") == nullptr)
        object.fail("a link needs 'between' (both ways) or 'from' and 'to'");
      from = memory_called(object.at("from"));
      to = memory_called(object.at("to"));
    }
    const double bandwidth = bandwidth_of(object.at("bandwidth"));
    const double latency = latency_of(object.at("latency"));
    if (between != nullptr && from != to) machine_.join(from, to, bandwidth, latency);
    else machine_.links.push_back({from, to, bandwidth, latency});
  }

  // Data may have to go from any memory to any other.
  void check_connected(const Machine& machine) const {
    for (const Memory& from : machine.memories())
      for (const Memory& to : machine.memories())
        if (!std::isfinite(machine.copy_seconds(from.id, to.id, 1)))
          memory_nodes_[to.id]->fail(
              fmt::format("no links lead from memory '{}' to memory '{}'", from.name, to.name));
  }

  const JsonNode& root_;
  Description machine_;
  std::map<std::string, std::size_t> memory_names_, processor_names_;
  std::vector<const JsonNode*> memory_nodes_;  // each memory's name, where errors about it point
};

}  // namespace

Machine parse_json(std::string_view text, const std::string& file) {
  const JsonFile json{std::string(text), file};
  return JsonForm(json).read();
}

}  // namespace refrain::machine
