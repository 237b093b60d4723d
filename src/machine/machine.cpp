#include "machine/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/assert.hpp"
#include "refrain/error.hpp"

namespace refrain {
namespace {

// The size of copy by which ways of several hops are compared.
constexpr double usual_copy = 1 << 20;

// Ids are positions, and what is named is there and can be used.
void check(const Machine& machine) {
  const auto processors = machine.processors();
  const auto memories = machine.memories();
  const auto demand = [&]<class... Values>(bool is_right, fmt::format_string<Values...> wrong,
                                           Values&&... values) {
    if (!is_right)
      throw InputError(fmt::format("machine '{}': {}", machine.name(),
                                   fmt::format(wrong, std::forward<Values>(values)...)));
  };
  const auto is_device = [&](ProcessorId id) {
    return id < processors.size() && machine::traits_of(processors[id].kind).is_device;
  };
  demand(!processors.empty(), "it has no processor");
  demand(!memories.empty(), "it has no memory");
  for (std::size_t m = 0; m < memories.size(); ++m)
    demand(memories[m].id == m, "memory '{}' has id {}, expected its position {}", memories[m].name,
           memories[m].id, m);
  for (std::size_t p = 0; p < processors.size(); ++p) {
    const Processor& processor = processors[p];
    demand(processor.id == p, "processor '{}' has id {}, expected its position {}", processor.name,
           processor.id, p);
    demand(!processor.memories.empty(), "processor '{}' reaches no memory", processor.name);
    for (MemoryId m : processor.memories) {
      demand(m < memories.size(), "processor '{}' reaches memory {}, but there are {}",
             processor.name, m, memories.size());
      demand(machine::may_reach(processor.kind, memories[m].kind),
             "processor '{}' is a {} and cannot reach the {} memory '{}'", processor.name,
             to_string(processor.kind), to_string(memories[m].kind), memories[m].name);
    }
    for (ProcessorId member : processor.members)
      demand(member < processors.size() && processors[member].kind == ProcessorKind::cpu,
             "gang '{}' has member {}, which is no cpu", processor.name, member);
  }
  for (const Memory& memory : memories)
    demand(!memory.owner || is_device(*memory.owner),
           "memory '{}' belongs to processor {}, which is no device", memory.name,
           memory.owner.value_or(0));
  for (const Link& link : machine.links())
    demand(link.from < memories.size() && link.to < memories.size() && link.bandwidth > 0 &&
               link.latency >= 0,
           "the link from memory {} to memory {} needs two memories, a bandwidth above 0 and a "
           "latency of at least 0",
           link.from, link.to);
}

}  // namespace

std::string_view to_string(ProcessorKind kind) { return machine::traits_of(kind).name; }

std::string_view to_string(MemoryKind kind) {
  constexpr std::array<std::string_view, memory_kinds> names{"system", "pinned", "framebuffer",
                                                             "file"};
  return names[static_cast<std::size_t>(kind)];
}

Machine::Machine(std::string name, std::vector<Processor> processors, std::vector<Memory> memories,
                 std::vector<Link> links)
    : name_(std::move(name)),
      processors_(std::move(processors)),
      memories_(std::move(memories)),
      links_(std::move(links)) {
  check(*this);
  for (const Processor& p : processors_)
    by_processor_kind_[static_cast<std::size_t>(p.kind)].push_back(p.id);
  for (const Memory& m : memories_)
    by_memory_kind_[static_cast<std::size_t>(m.kind)].push_back(m.id);
  find_ways();
}

// Floyd and Warshall's shortest paths; the length of a way is the time of a copy of the usual size.
void Machine::find_ways() {
  const auto n = static_cast<MemoryId>(memories_.size());
  const auto length = [](const Way& way) {
    return way.latency + usual_copy * way.seconds_per_byte;
  };
  direct_.assign(std::size_t{n} * n, -1);
  ways_.assign(std::size_t{n} * n, Way{std::numeric_limits<double>::infinity(), 0});
  for (MemoryId m = 0; m < n; ++m) ways_[pair(m, m)] = {0, 0};
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    const Way way{link.latency, 1 / link.bandwidth};
    int& direct = direct_[pair(link.from, link.to)];
    Way& best = ways_[pair(link.from, link.to)];
    if (direct >= 0 && length(way) >= length(best)) continue;
    direct = static_cast<int>(i);
    best = way;
  }
  for (MemoryId via = 0; via < n; ++via)
    for (MemoryId from = 0; from < n; ++from)
      for (MemoryId to = 0; to < n; ++to) {
        if (from == to) continue;
        const Way& first = ways_[pair(from, via)];
        const Way& second = ways_[pair(via, to)];
        const Way both{first.latency + second.latency,
                       first.seconds_per_byte + second.seconds_per_byte};
        Way& best = ways_[pair(from, to)];
        if (length(both) < length(best)) best = both;
      }
}

std::size_t Machine::pair(MemoryId from, MemoryId to) const {
  REFRAIN_ASSERT(from < memories_.size() && to < memories_.size(),
                 "a memory id is one of this machine");
  return std::size_t{from} * memories_.size() + to;
}

const Processor& Machine::processor(ProcessorId id) const {
  REFRAIN_ASSERT(id < processors_.size(), "a processor id is one of this machine");
  return processors_[id];
}

const Memory& Machine::memory(MemoryId id) const {
  REFRAIN_ASSERT(id < memories_.size(), "a memory id is one of this machine");
  return memories_[id];
}

std::span<const ProcessorId> Machine::processors(ProcessorKind kind) const {
  return by_processor_kind_[static_cast<std::size_t>(kind)];
}

std::span<const MemoryId> Machine::memories(MemoryKind kind) const {
  return by_memory_kind_[static_cast<std::size_t>(kind)];
}

bool Machine::reaches(ProcessorId id, MemoryId memory) const {
  const auto& reached = processor(id).memories;
  return std::ranges::find(reached, memory) != reached.end();
}

std::optional<MemoryId> Machine::nearest(ProcessorId id, MemoryKind kind) const {
  for (MemoryId m : processor(id).memories)
    if (memories_[m].kind == kind) return m;
  return std::nullopt;
}

const Link* Machine::link(MemoryId from, MemoryId to) const {
  const int direct = direct_[pair(from, to)];
  return direct < 0 ? nullptr : &links_[static_cast<std::size_t>(direct)];
}

double Machine::copy_seconds(MemoryId from, MemoryId to, std::uint64_t bytes) const {
  const Way& way = ways_[pair(from, to)];
  return way.latency + static_cast<double>(bytes) * way.seconds_per_byte;
}

namespace machine {

std::span<const ProcessorTraits> processor_table() {
  using enum MemoryKind;
  static constexpr std::array<ProcessorTraits, processor_kinds> table{
      {{ProcessorKind::cpu, "cpu", {system, pinned}, false},
       {ProcessorKind::gang, "gang", {system, pinned}, false},
       {ProcessorKind::gpu, "gpu", {framebuffer, pinned}, true}}};
  return table;
}

bool may_reach(ProcessorKind processor, MemoryKind memory) {
  return std::ranges::count(traits_of(processor).memories, memory) != 0;
}

MemoryId Description::add(MemoryKind kind, std::string memory_name, std::uint64_t capacity,
                          int numa) {
  const auto id = static_cast<MemoryId>(memories.size());
  memories.push_back({id, kind, capacity, numa, std::nullopt, std::move(memory_name)});
  return id;
}

Processor& Description::add(ProcessorKind kind, std::string processor_name, int numa,
                            std::vector<MemoryId> reached) {
  const auto id = static_cast<ProcessorId>(processors.size());
  return processors.emplace_back(
      Processor{id, kind, numa, false, std::move(processor_name), std::move(reached), {}, {}});
}

void Description::join(const Link& link) {
  links.push_back(link);
  if (link.from != link.to) links.push_back({link.to, link.from, link.bandwidth, link.latency});
}

void Description::add_gangs() {
  std::map<int, std::vector<ProcessorId>> domains;
  for (const Processor& p : processors)
    if (p.kind == ProcessorKind::cpu) domains[p.numa].push_back(p.id);
  for (auto& [numa, members] : domains) {
    Processor& gang = add(ProcessorKind::gang, fmt::format("gang{}", numa), numa,
                          processors[members.front()].memories);
    const bool is_bound =
        std::ranges::none_of(members, [&](ProcessorId id) { return processors[id].cpus.empty(); });
    for (const ProcessorId id : members)
      if (is_bound) std::ranges::copy(processors[id].cpus, std::back_inserter(gang.cpus));
    gang.members = std::move(members);
  }
}

Machine Description::build() && {
  return Machine(std::move(name), std::move(processors), std::move(memories), std::move(links));
}

namespace {

// The link between two memories, or inside one: what copies cost on common server hardware. The figures rank copies;
// nobody measured them.
Link nominal_link(const Memory& a, const Memory& b) {
  const int on_gpus = (a.kind == MemoryKind::framebuffer) + (b.kind == MemoryKind::framebuffer);
  if (on_gpus == 2 && a.id == b.id) return {a.id, b.id, 400e9, 2e-6};
  if (on_gpus == 2) return {a.id, b.id, 20e9, 5e-6};  // GPUs that reach each other directly
  if (on_gpus == 1) return {a.id, b.id, 12e9, 5e-6};  // PCIe of the third generation
  if (a.numa == b.numa) return {a.id, b.id, 10e9, 100e-9};
  return {a.id, b.id, 8e9, 250e-9};
}

}  // namespace

Machine assemble(std::string name, const Hardware& hardware) {
  Description machine{std::move(name), {}, {}, {}};
  const std::size_t domains = hardware.domains.size();
  for (std::size_t d = 0; d < domains; ++d)
    machine.add(MemoryKind::system, fmt::format("system{}", d), hardware.domains[d],
                static_cast<int>(d));
  if (hardware.pinned > 0) machine.add(MemoryKind::pinned, "pinned0", hardware.pinned, 0);
  std::vector<MemoryId> on_board(machine.memories.size());
  std::iota(on_board.begin(), on_board.end(), 0);
  for (const Hardware::Cpu& cpu : hardware.cpus) {
    std::vector<MemoryId> reached = on_board;
    std::rotate(reached.begin(), reached.begin() + cpu.domain, reached.begin() + cpu.domain + 1);
    Processor& added =
        machine.add(ProcessorKind::cpu, fmt::format("cpu{}", machine.processors.size()), cpu.domain,
                    std::move(reached));
    added.cpus = cpu.cpus;
    added.emulated = cpu.emulated;
  }
  for (std::size_t g = 0; g < hardware.gpus; ++g) {
    const int numa = static_cast<int>(g * domains / hardware.gpus);
    const MemoryId framebuffer = machine.add(
        MemoryKind::framebuffer, fmt::format("framebuffer{}", g), hardware.framebuffer, numa);
    Processor& gpu = machine.add(ProcessorKind::gpu, fmt::format("gpu{}", g), numa,
                                 {framebuffer, on_board.back()});
    gpu.emulated = true;
    machine.memories[framebuffer].owner = gpu.id;
  }
  for (const Memory& a : machine.memories)
    for (MemoryId b = a.id; b < machine.memories.size(); ++b)
      machine.join(nominal_link(a, machine.memories[b]));
  machine.add_gangs();
  return std::move(machine).build();
}

}  // namespace machine
}  // namespace refrain
