#include "machine/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "base/assert.hpp"
#include "refrain/error.hpp"

namespace refrain {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// The size of copy by which ways of several hops are compared.
constexpr double usual_copy = 1 << 20;

}  // namespace

std::string_view to_string(ProcessorKind kind) {
  constexpr std::array<std::string_view, processor_kinds> names{"cpu", "gang", "gpu"};
  return names[static_cast<std::size_t>(kind)];
}

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
  check();
  index_kinds();
  find_ways();
}

void Machine::wrong(const std::string& what) const {
  throw InputError(fmt::format("machine '{}': {}", name_, what));
}

// What a processor names is there and can be used by it.
void Machine::check_references(const Processor& processor) const {
  if (processor.memories.empty())
    wrong(fmt::format("processor '{}' reaches no memory", processor.name));
  for (MemoryId m : processor.memories) {
    if (m >= memories_.size())
      wrong(fmt::format("processor '{}' reaches memory {}, but there are {}", processor.name, m,
                        memories_.size()));
    if (!machine::may_reach(processor.kind, memories_[m].kind))
      wrong(fmt::format("processor '{}' is a {} and cannot reach the {} memory '{}'",
                        processor.name, to_string(processor.kind), to_string(memories_[m].kind),
                        memories_[m].name));
  }
  for (ProcessorId member : processor.members)
    if (member >= processors_.size() || processors_[member].kind != ProcessorKind::cpu)
      wrong(fmt::format("gang '{}' has member {}, which is no cpu", processor.name, member));
}

void Machine::check() const {
  if (processors_.empty()) wrong("it has no processor");
  if (memories_.empty()) wrong("it has no memory");
  for (std::size_t m = 0; m < memories_.size(); ++m)
    if (memories_[m].id != m)
      wrong(fmt::format("memory '{}' has id {}, expected its position {}", memories_[m].name,
                        memories_[m].id, m));
  for (std::size_t p = 0; p < processors_.size(); ++p) {
    if (processors_[p].id != p)
      wrong(fmt::format("processor '{}' has id {}, expected its position {}", processors_[p].name,
                        processors_[p].id, p));
    check_references(processors_[p]);
  }
  for (const Memory& memory : memories_)
    if (memory.owner && (*memory.owner >= processors_.size() ||
                         processors_[*memory.owner].kind != ProcessorKind::gpu))
      wrong(fmt::format("memory '{}' belongs to processor {}, which is no gpu", memory.name,
                        *memory.owner));
  for (const Link& link : links_)
    if (link.from >= memories_.size() || link.to >= memories_.size() || !(link.bandwidth > 0) ||
        !(link.latency >= 0))
      wrong(
          fmt::format("the link from memory {} to memory {} needs two memories, a bandwidth above "
                      "0 and a latency of at least 0",
                      link.from, link.to));
}

void Machine::index_kinds() {
  for (const Processor& p : processors_)
    by_processor_kind_[static_cast<std::size_t>(p.kind)].push_back(p.id);
  for (const Memory& m : memories_)
    by_memory_kind_[static_cast<std::size_t>(m.kind)].push_back(m.id);
}

// Floyd and Warshall's shortest paths; the length of a way is the time of a copy of the usual size.
void Machine::find_ways() {
  const auto n = static_cast<MemoryId>(memories_.size());
  const auto length = [](const Way& way) {
    return way.latency + usual_copy * way.seconds_per_byte;
  };
  direct_.assign(std::size_t{n} * n, -1);
  ways_.assign(std::size_t{n} * n, Way{infinity, 0});
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
        if (from == via || via == to || from == to) continue;
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
  return std::find(reached.begin(), reached.end(), memory) != reached.end();
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

bool may_reach(ProcessorKind processor, MemoryKind memory) {
  switch (memory) {
    case MemoryKind::system: return processor != ProcessorKind::gpu;
    case MemoryKind::pinned: return true;
    case MemoryKind::framebuffer: return processor == ProcessorKind::gpu;
    case MemoryKind::file: return false;
  }
  return false;
}

MemoryId Description::add(MemoryKind kind, std::string memory_name, std::uint64_t capacity,
                          int numa) {
  const auto id = static_cast<MemoryId>(memories.size());
  memories.push_back({id, kind, capacity, numa, std::nullopt, std::move(memory_name)});
  return id;
}

ProcessorId Description::add(ProcessorKind kind, std::string processor_name, int numa,
                             std::vector<MemoryId> reached) {
  const auto id = static_cast<ProcessorId>(processors.size());
  Processor processor;
  processor.id = id;
  processor.kind = kind;
  processor.numa = numa;
  processor.name = std::move(processor_name);
  processor.memories = std::move(reached);
  processors.push_back(std::move(processor));
  return id;
}

void Description::join(MemoryId a, MemoryId b, double bandwidth, double latency) {
  links.push_back({a, b, bandwidth, latency});
  links.push_back({b, a, bandwidth, latency});
}

void Description::add_gangs() {
  std::set<int> domains;
  for (const Processor& p : processors)
    if (p.kind == ProcessorKind::cpu) domains.insert(p.numa);
  for (int numa : domains) {
    std::vector<ProcessorId> members;
    std::vector<int> cpus;
    bool bound = true;
    for (const Processor& p : processors) {
      if (p.kind != ProcessorKind::cpu || p.numa != numa) continue;
      members.push_back(p.id);
      bound = bound && !p.cpus.empty();
      cpus.insert(cpus.end(), p.cpus.begin(), p.cpus.end());
    }
    const ProcessorId gang = add(ProcessorKind::gang, fmt::format("gang{}", numa), numa,
                                 processors[members.front()].memories);
    processors[gang].members = std::move(members);
    if (bound) processors[gang].cpus = std::move(cpus);
  }
}

// What copies cost on common server hardware. The figures rank copies; nobody measured them.
namespace {

struct Speed {
  double bandwidth;  // bytes per second
  double latency;    // seconds
};

constexpr Speed same_domain{10e9, 100e-9}, across_domains{8e9, 250e-9};
constexpr Speed framebuffer{400e9, 2e-6};
constexpr Speed pcie{12e9, 5e-6};   // of the third generation
constexpr Speed peers{20e9, 5e-6};  // two GPUs that reach each other directly

Speed speed_between(const Memory& a, const Memory& b) {
  const bool on_gpu_a = a.kind == MemoryKind::framebuffer;
  const bool on_gpu_b = b.kind == MemoryKind::framebuffer;
  if (on_gpu_a && on_gpu_b) return a.id == b.id ? framebuffer : peers;
  if (on_gpu_a || on_gpu_b) return pcie;
  return a.numa == b.numa ? same_domain : across_domains;
}

}  // namespace

void Description::add_nominal_links() {
  for (const Memory& a : memories) {
    const Speed inside = speed_between(a, a);
    links.push_back({a.id, a.id, inside.bandwidth, inside.latency});
    for (MemoryId b = a.id + 1; b < memories.size(); ++b) {
      const Speed between = speed_between(a, memories[b]);
      join(a.id, b, between.bandwidth, between.latency);
    }
  }
}

Machine Description::build() && {
  return Machine(std::move(name), std::move(processors), std::move(memories), std::move(links));
}

}  // namespace machine
}  // namespace refrain
