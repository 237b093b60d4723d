#include "machine/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
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
    demand(processor.flops >= 0 && processor.launch_seconds >= 0,
           "processor '{}' needs flops and launch_seconds of at least 0", processor.name);
    demand(processor.bandwidths.empty() || processor.bandwidths.size() == processor.memories.size(),
           "processor '{}' has {} bandwidths, expected none or one for each of its {} memories",
           processor.name, processor.bandwidths.size(), processor.memories.size());
    for (const double bandwidth : processor.bandwidths)
      demand(bandwidth > 0, "processor '{}' has a bandwidth of {}, expected one above 0",
             processor.name, bandwidth);
    for (ProcessorId member : processor.members)
      demand(member < processors.size() && processors[member].kind == ProcessorKind::cpu,
             "gang '{}' has member {}, which is no cpu", processor.name, member);
  }
  for (const Memory& memory : memories)
    demand(!memory.owner || is_device(*memory.owner),
           "memory '{}' belongs to processor {}, which is no device", memory.name,
           memory.owner.value_or(0));
  const auto is_in_turn = [ranks = std::size_t{memories.back().rank} + 1](const auto& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].rank != i / std::max<std::size_t>(list.size() / ranks, 1)) return false;
    return list.size() % ranks == 0;
  };
  demand(is_in_turn(memories) && is_in_turn(processors),
         "its ranks do not have as many processors and memories each, one rank after the other");
  for (const Link& link : machine.links())
    demand(link.from < memories.size() && link.to < memories.size() && link.bandwidth > 0 &&
               link.latency >= 0,
           "the link from memory {} to memory {} needs two memories, a bandwidth above 0 and a "
           "latency of at least 0",
           link.from, link.to);
  const auto demand_one_rank = [&](const auto& one, const auto& other) {
    demand(one.rank == other.rank,
           "'{}' of rank {} names '{}' of rank {}: no way leads from rank to rank", one.name,
           one.rank, other.name, other.rank);
  };
  for (const Processor& processor : processors) {
    for (const MemoryId m : processor.memories) demand_one_rank(processor, memories[m]);
    for (const ProcessorId p : processor.members) demand_one_rank(processor, processors[p]);
  }
  for (const Memory& memory : memories)
    if (memory.owner) demand_one_rank(memory, processors[*memory.owner]);
  for (const Link& link : machine.links()) demand_one_rank(memories[link.from], memories[link.to]);
  if (const auto& network = machine.network())
    demand(network->bandwidth > 0 && network->latency >= 0,
           "its network needs a bandwidth above 0 and a latency of at least 0");
  const Overheads& overheads = machine.overheads();
  demand(
      overheads.analyse >= 0 && overheads.replay >= 0 && overheads.run >= 0 && overheads.wake >= 0,
      "its overheads need to be at least 0");
}

}  // namespace

std::string_view to_string(ProcessorKind kind) { return machine::traits_of(kind).name; }

std::string_view to_string(MemoryKind kind) {
  constexpr std::array<std::string_view, memory_kinds> names{"system", "pinned", "framebuffer",
                                                             "file"};
  return names[static_cast<std::size_t>(kind)];
}

Machine::Machine(std::string name, std::vector<Processor> processors, std::vector<Memory> memories,
                 std::vector<Link> links, MachineCosts costs)
    : name_(std::move(name)),
      processors_(std::move(processors)),
      memories_(std::move(memories)),
      links_(std::move(links)),
      costs_(costs) {
  check(*this);
  for (const Processor& p : processors_)
    by_processor_kind_[static_cast<std::size_t>(p.kind)].push_back(p.id);
  for (const Memory& m : memories_)
    by_memory_kind_[static_cast<std::size_t>(m.kind)].push_back(m.id);
  find_ways();
  // The first system memory of each rank; the first memory of one that has none.
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) gateways_.push_back(rank * per_rank_);
  for (const MemoryId m :
       by_memory_kind_[static_cast<std::size_t>(MemoryKind::system)] | std::views::reverse)
    gateways_[memories_[m].rank] = m;
}

// The analysis asks for each copy that it may make: what is done in one process is a few instructions.
inline std::size_t Machine::pair(MemoryId from, MemoryId to) const {
  // Both of rank 0: in one process always.
  if (from < per_rank_ && to < per_rank_) return std::size_t{from} * per_rank_ + to;
  REFRAIN_ASSERT(from < memories_.size() && to < memories_.size(),
                 "a memory id is one of this machine");
  // Of a rank before it is a large number.
  const MemoryId in_rank = to - from / per_rank_ * per_rank_;
  return in_rank < per_rank_ ? std::size_t{from} * per_rank_ + in_rank : ways_.size() - 1;
}

// Floyd and Warshall's shortest paths; the length of a way is the time of a copy of the usual size.
void Machine::find_ways() {
  const auto n = static_cast<MemoryId>(memories_.size());
  per_rank_ = n / ranks();
  const auto length = [](const Way& way) {
    return way.latency + usual_copy * way.seconds_per_byte;
  };
  direct_.assign(std::size_t{n} * per_rank_ + 1, -1);
  ways_.assign(direct_.size(), Way{std::numeric_limits<double>::infinity(), 0});
  REFRAIN_ASSERT(per_rank_ > 0, "each rank has a memory");
  for (MemoryId m = 0; m < n; ++m) ways_[pair(m, m)] = {0, 0};
  if (costs_.network) ways_.back() = {costs_.network->latency, 1 / costs_.network->bandwidth};
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    const Way way{link.latency, 1 / link.bandwidth};
    const std::size_t ends = pair(link.from, link.to);
    int& direct = direct_[ends];
    Way& best = ways_[ends];
    if (direct >= 0 && length(way) >= length(best)) continue;
    direct = static_cast<int>(i);
    best = way;
  }
  for (MemoryId via = 0; via < n; ++via) {
    const MemoryId begin = memories_[via].rank * per_rank_, end = begin + per_rank_;
    for (MemoryId from = begin; from < end; ++from)
      for (MemoryId to = begin; to < end; ++to) {
        if (from == to) continue;
        const Way both = ways_[pair(from, via)] + ways_[pair(via, to)];
        Way& best = ways_[pair(from, to)];
        if (length(both) < length(best)) best = both;
      }
  }
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
  const std::size_t place = pair(from, to);
  Way way = ways_[place];
  if (place + 1 == ways_.size()) {
    const MemoryId out = gateways_[memories_[from].rank], in = gateways_[memories_[to].rank];
    if (from != out) way = ways_[pair(from, out)] + way;
    if (in != to) way = way + ways_[pair(in, to)];
  }
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

namespace {

// A gang has the rates of all its members, as far as these are known of each.
void add_rates(Processor& gang, const std::vector<ProcessorId>& members,
               const std::vector<Processor>& processors) {
  gang.bandwidths.assign(gang.memories.size(), 0);
  bool knows_flops = true, knows_bandwidths = true;
  for (const ProcessorId id : members) {
    const Processor& member = processors[id];
    gang.flops += member.flops;
    gang.launch_seconds = std::max(gang.launch_seconds, member.launch_seconds);
    for (std::size_t i = 0; i < member.bandwidths.size(); ++i) {
      const auto at = std::ranges::find(gang.memories, member.memories[i]) - gang.memories.begin();
      if (at < std::ssize(gang.memories))
        gang.bandwidths[static_cast<std::size_t>(at)] += member.bandwidths[i];
    }
    knows_flops = knows_flops && member.flops > 0;
    knows_bandwidths = knows_bandwidths && !member.bandwidths.empty();
  }
  if (!knows_flops) gang.flops = 0;
  if (!knows_bandwidths) gang.bandwidths.clear();
}

}  // namespace

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
    add_rates(gang, members, processors);
    gang.members = std::move(members);
  }
}

Machine Description::build() && {
  return Machine(std::move(name), std::move(processors), std::move(memories), std::move(links),
                 costs);
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

Machine of_ranks(const Machine& one, std::uint32_t ranks,
                 std::span<const std::uint64_t> capacities) {
  const auto processors = static_cast<ProcessorId>(one.processors().size());
  const auto memories = static_cast<MemoryId>(one.memories().size());
  REFRAIN_ASSERT(capacities.size() == memories, "there is a capacity for each memory");
  Description all{one.name(), {}, {}, {}, {one.network(), one.overheads()}};
  all.processors.reserve(std::size_t{ranks} * processors);
  all.memories.reserve(std::size_t{ranks} * memories);
  all.links.reserve(ranks * one.links().size());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const ProcessorId first_processor = rank * processors;
    const MemoryId first_memory = rank * memories;
    for (Processor processor : one.processors()) {
      processor.id += first_processor;
      for (MemoryId& memory : processor.memories) memory += first_memory;
      for (ProcessorId& member : processor.members) member += first_processor;
      processor.cpus.clear();
      processor.rank = rank;
      all.processors.push_back(std::move(processor));
    }
    for (Memory memory : one.memories()) {
      memory.capacity = capacities[memory.id];
      memory.id += first_memory;
      if (memory.owner) *memory.owner += first_processor;
      memory.rank = rank;
      all.memories.push_back(std::move(memory));
    }
    for (const Link& link : one.links())
      all.links.push_back(
          {link.from + first_memory, link.to + first_memory, link.bandwidth, link.latency});
  }
  return std::move(all).build();
}

}  // namespace machine
}  // namespace refrain
