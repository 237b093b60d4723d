// "emulated:gpus=2,framebuffer=64MiB": the real machine, changed by a few settings. An emulated GPU is a
// worker thread with a framebuffer of its own, an arena of main memory that nothing else touches, so that
// every copy to and from a GPU happens for real.

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "machine/machine.hpp"
#include "refrain/error.hpp"

namespace refrain::machine {
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

}  // namespace refrain::machine
