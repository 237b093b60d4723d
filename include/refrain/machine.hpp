#pragma once
// The machine a program runs on, as mappers see it: processors, memories, and the links between
// memories, either found on this computer or read from a description (docs/machine.md).
//
// A Machine never changes after it is made, so any thread may read it without a lock. Ids are dense:
// processor p is `processors()[p]`, memory m is `memories()[m]`. Ids follow the description's order
// (or the topology's), so they are the same in every run on the same machine.
//
// The machine of a program that several ranks run (Context::machine()) has the processors and memories
// of all ranks, those of rank 0 first, as many on each; `rank` says whose they are. What one of them names
// (memories, members, an owner, the ends of a link) is of its own rank: no link joins two ranks. A network,
// where one is described, joins them all.
//
// Cost: every query is an array look-up, except link() and copy_seconds(), which read a table that the
// constructor filled (a rank's memories cubed, for each rank, once).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace refrain {

/// What a task variant is written for.
enum class ProcessorKind : std::uint8_t {
  cpu,   ///< one core
  gang,  ///< the cores of one NUMA domain running one task together
  gpu,   ///< one GPU, real or emulated
};
inline constexpr int processor_kinds = 3;

enum class MemoryKind : std::uint8_t {
  system,       ///< main memory of one NUMA domain
  pinned,       ///< main memory that CPUs and GPUs both reach (zero-copy)
  framebuffer,  ///< memory of one GPU
  file,  ///< storage behind a file, which no task reaches; may be described, holds nothing yet
};
inline constexpr int memory_kinds = 4;

/// "cpu", "gang", "gpu".
std::string_view to_string(ProcessorKind kind);
/// "system", "pinned", "framebuffer", "file".
std::string_view to_string(MemoryKind kind);

using ProcessorId = std::uint32_t;
using MemoryId = std::uint32_t;

struct Processor {
  ProcessorId id = 0;
  ProcessorKind kind = ProcessorKind::cpu;
  int numa = 0;           ///< its NUMA domain, of those of its rank
  bool emulated = false;  ///< a worker thread stands in for it
  std::string name;
  /// The memories its tasks can use directly, best first. Never empty.
  std::vector<MemoryId> memories;
  /// The operating system's numbers of the hardware threads it is bound to; empty: not bound, or of the
  /// machine of several ranks, of which each binds its own.
  std::vector<int> cpus;
  /// For a gang, the cpu processors that work together; otherwise empty.
  std::vector<ProcessorId> members;
  std::uint32_t rank = 0;  ///< whose it is; 0 in one process
  /// Floating-point operations per second that its tasks typically reach; 0: not known.
  double flops = 0;
  /// Bytes per second at which its tasks read and write each of `memories`, in that order; empty: not known.
  std::vector<double> bandwidths = {};
  /// Seconds that a task takes beyond its body, each time: the launch of a GPU's kernel, for example.
  double launch_seconds = 0;
};

struct Memory {
  MemoryId id = 0;
  MemoryKind kind = MemoryKind::system;
  std::uint64_t capacity = 0;  ///< bytes
  int numa = -1;               ///< its NUMA domain, of those of its rank; -1: none
  /// For a framebuffer, the GPU that it belongs to.
  std::optional<ProcessorId> owner;
  std::string name;
  std::uint32_t rank = 0;  ///< whose it is; 0 in one process
};

/// A way to copy from one memory to another, in this direction only. A link from a memory to itself
/// says how fast copies inside it are.
struct Link {
  MemoryId from = 0;
  MemoryId to = 0;
  double bandwidth = 0;  ///< bytes per second
  double latency = 0;    ///< seconds until the first byte
};

/// Seconds of the runtime's own work per operation. The launching thread analyses an operation or replays
/// it; whoever runs it has the rest. A thread that has had nothing to do for long sleeps, and wakes before it
/// begins.
struct Overheads {
  double analyse = 6e-7;
  double replay = 1e-7;
  double run = 2e-7;
  double wake = 1.2e-5;
};

/// What a machine costs beside its processors and links.
struct MachineCosts {
  /// What joins each two ranks: the bandwidth of one rank's adapter in each direction, and the latency
  /// from rank to rank. `from` and `to` have no meaning. Nothing: not known.
  std::optional<Link> network = {};
  Overheads overheads = {};
};

class Machine {
 public:
  /// Takes lists whose ids are their positions, whose references are in range, and whose ranks are as
  /// above; otherwise throws InputError that names the machine and what is wrong. Mapper tests may make
  /// machines of their own this way.
  Machine(std::string name, std::vector<Processor> processors, std::vector<Memory> memories,
          std::vector<Link> links, MachineCosts costs = {});

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Of how many ranks it is, or of how many nodes where it is described so; 1 in one process.
  [[nodiscard]] std::uint32_t ranks() const { return memories_.back().rank + 1; }
  [[nodiscard]] const std::optional<Link>& network() const { return costs_.network; }
  [[nodiscard]] const Overheads& overheads() const { return costs_.overheads; }

  [[nodiscard]] std::span<const Processor> processors() const { return processors_; }
  [[nodiscard]] std::span<const Memory> memories() const { return memories_; }
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  [[nodiscard]] const Processor& processor(ProcessorId id) const;
  [[nodiscard]] const Memory& memory(MemoryId id) const;

  /// All processors (memories) of one kind, by id.
  [[nodiscard]] std::span<const ProcessorId> processors(ProcessorKind kind) const;
  [[nodiscard]] std::span<const MemoryId> memories(MemoryKind kind) const;
  [[nodiscard]] bool has(ProcessorKind kind) const { return !processors(kind).empty(); }

  /// Can a task on this processor use data in this memory without a copy?
  [[nodiscard]] bool reaches(ProcessorId processor, MemoryId memory) const;
  /// The best memory of this kind that the processor reaches, if there is one.
  [[nodiscard]] std::optional<MemoryId> nearest(ProcessorId processor, MemoryKind kind) const;

  /// The direct link, or nullptr; between two ranks always. The fastest one where several join the same two
  /// memories.
  [[nodiscard]] const Link* link(MemoryId from, MemoryId to) const;
  /// How long a copy of `bytes` is expected to take over the best way there is, several hops included;
  /// infinity where there is none, as between two ranks without a network; 0 inside a memory that has no link
  /// to itself. The way to another rank leads through the first system memory of each, and the network.
  [[nodiscard]] double copy_seconds(MemoryId from, MemoryId to, std::uint64_t bytes) const;

 private:
  // The best way between two memories, as one link: latencies added, slowness (1/bandwidth) added.
  struct Way {
    double latency = 0;
    double seconds_per_byte = 0;
    friend Way operator+(const Way& a, const Way& b) {
      return {a.latency + b.latency, a.seconds_per_byte + b.seconds_per_byte};
    }
  };

  void find_ways();
  /// Where the tables have the pair. All pairs of two ranks have the last place.
  [[nodiscard]] std::size_t pair(MemoryId from, MemoryId to) const;

  std::string name_;
  std::vector<Processor> processors_;
  std::vector<Memory> memories_;
  std::vector<Link> links_;
  MachineCosts costs_;
  std::vector<ProcessorId> by_processor_kind_[processor_kinds];
  std::vector<MemoryId> by_memory_kind_[memory_kinds];
  MemoryId per_rank_ = 0;           // memories of a rank
  std::vector<int> direct_;         // per pair of memories of a rank, index into links_, or -1
  std::vector<Way> ways_;           // likewise; the last is the network
  std::vector<MemoryId> gateways_;  // per rank, the memory at which the network begins
};

}  // namespace refrain
