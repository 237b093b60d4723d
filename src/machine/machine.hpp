#pragma once
// Where machines come from: found on this computer, or described by a short text or a JSON file
// (docs/machine.md). Everything here runs once, before a runtime starts, on one
// thread, unless it says otherwise.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "refrain/machine.hpp"

namespace refrain::machine {

/// What a kind of processor is. A new kind is an enumerator of ProcessorKind and a row of the table in machine.cpp.
struct ProcessorTraits {
  ProcessorKind kind;
  std::string_view name;
  /// That its tasks can use at all, the best first: a processor needs one of the first kind, and that is where the
  /// default mapper puts arguments. Nobody reaches a file.
  std::array<MemoryKind, 2> memories;
  /// It has a memory of its own, into which data is copied piece by piece, and a thread that does its tasks alone. The
  /// others share the workers.
  bool is_device;
};
/// All kinds, in their order. Where a task has bodies for several, the default mapper takes the last.
std::span<const ProcessorTraits> processor_table();
inline const ProcessorTraits& traits_of(ProcessorKind kind) {
  return processor_table()[static_cast<std::size_t>(kind)];
}
bool may_reach(ProcessorKind processor, MemoryKind memory);

/// The most processors that a description may ask for on one node, and the most nodes.
inline constexpr int most_processors = 4096;
inline constexpr int most_nodes = 4096;

/// A machine that is being put together; the lists become a Machine once they are complete.
/// Ids are positions in the lists, so a processor or a memory keeps the id that add() gives it.
struct Description {
  std::string name;
  std::vector<Processor> processors;
  std::vector<Memory> memories;
  std::vector<Link> links;
  MachineCosts costs = {};

  MemoryId add(MemoryKind kind, std::string memory_name, std::uint64_t capacity, int numa);
  Processor& add(ProcessorKind kind, std::string processor_name, int numa,
                 std::vector<MemoryId> reached);
  /// The link, and the same the other way, unless it is inside a memory.
  void join(const Link& link);
  /// One gang per NUMA domain that has cpu processors; a gang reaches what its first cpu reaches, with the rates of all.
  /// Call once, when all cpu processors are there.
  void add_gangs();

  /// The finished machine.
  Machine build() &&;
};

/// What a computer consists of: as it is found, or as the short form changes it.
struct Hardware {
  struct Cpu {
    int domain = 0;
    std::vector<int> cpus = {};  ///< the hardware thread that it is bound to; empty: not bound
    bool emulated = false;
  };
  std::vector<std::uint64_t> domains;  ///< the memory of each NUMA domain
  std::vector<Cpu> cpus;
  std::uint64_t gpus = 0;                     ///< emulated ones
  std::uint64_t framebuffer = 0, pinned = 0;  ///< of each GPU, and beside them; 0: none
};
/// The machine of it: a system memory and a gang per domain; links between all memories, and inside each, with the
/// figures of common hardware.
Machine assemble(std::string name, const Hardware& hardware);

/// The machine of so many ranks, each of which has one like this, as they agree on (to_outline): `capacities` are the
/// least that any rank has, by memory. Names are the same on each. Nothing is bound: ranks are bound to unlike hardware threads.
Machine of_ranks(const Machine& one, std::uint32_t ranks,
                 std::span<const std::uint64_t> capacities);

/// This computer: a cpu per core that this process may use, each bound to one hardware thread of its core. Never
/// fails: where the topology cannot be read it has one domain and as many cpus as the process may use. What the process
/// may use is what its first call could use: threads that bind themselves later do not make the machine smaller.
Hardware find_hardware();

/// Makes the machine that --refrain:machine asks for: empty is this computer, as it was at the first call; a text that
/// starts with "emulated:" (or is just "emulated") is the short form, anything else names a JSON file, with
/// ":nodes=N" or without. A name without a folder and ".json" is also looked for in the folder machines here, and in
/// that beside an installed program. Throws InputError that says where (file, line and column), what was expected and
/// what was found.
Machine load(std::string_view description);

/// "emulated", or "emulated:" and settings; anything else but an empty text names a file.
bool is_short_form(std::string_view description);

/// A number in a small file of the kernel's, under /proc, /sys or a control group: the one that begins the first line, or
/// follows `key` in the first line that begins with it ("MemTotal:  123 kB"). Nothing where there is no such file, line
/// or number ("max"), or it is 2^64 or more.
std::optional<std::uint64_t> number_in(const std::string& path, std::string_view key = {});

/// A limit that the kernel puts on this process by a control group (cgroups(7), version 2 and 1).
struct GroupLimit {
  std::string group;  ///< whose limit is the least, as a folder of the hierarchy: "/batch/job7"
  std::string file;   ///< in which it stands: "memory.max"
  std::uint64_t limit = 0;
  std::optional<std::uint64_t> current = {};  ///< used of it, where that is known
};

/// The least limit of a controller ("memory", "pids") on the process's group and all groups around it; nothing without a
/// limit. The files `limits` of a group hold its limits, the file `current` holds its use (null: not asked). A file that
/// is not there is no limit. Reads /proc/self/cgroup and /sys/fs/cgroup at each call. `root` stands before all paths, for
/// tests. Any thread.
std::optional<GroupLimit> least_group_limit(const std::string& controller,
                                            std::initializer_list<const char*> limits,
                                            const char* current, const std::string& root = {});

/// How much main memory the process may use, and who says so: the machine's, or less where a control group (memory.max,
/// memory.high, or version 1's memory.limit_in_bytes, of its own group or one around it) or a limit of the process
/// (ulimit -v, -d) allows less. What happens to be free is not asked: it changes while a program runs.
struct MainMemory {
  std::uint64_t bytes = 0;
  std::string
      why;  ///< "all that the machine has", "what memory.max of the control group '/a' allows"
};

/// `root` stands before the paths that are read, for tests.
MainMemory find_main_memory(const std::string& root = {});

/// The part of `usable` bytes that a NUMA domain gets: `found` of the bytes `in_all` that the hardware shows for all
/// domains; an equal part where it shows none.
std::uint64_t share_of_domain(std::uint64_t usable, std::uint64_t found, std::uint64_t in_all,
                              std::size_t domains);

/// Throws InputError unless programs can run on it here: it has one node, a hardware thread that a processor is bound to is one that
/// this process may use, and a gpu is emulated. `description`: as for load().
void check_runs_here(const Machine& machine, std::string_view description);

/// The JSON form. `file` is the name that errors give.
Machine parse_json(std::string text, const std::string& file);

/// Ascending numbers as people write them: "0-3, 8".
std::string in_ranges(const std::vector<int>& numbers);
/// The machine as a JSON description that parse_json reads back. Of several ranks it describes the first, and says how
/// many there are.
std::string to_json(const Machine& machine);
/// What of the machine has to be the same in all processes of a run, for people: how many cores, GPUs and NUMA domains it
/// has, of several domains the cores of each, and where a file describes it, a hash of all that the file says. Of a machine
/// as found the capacities may differ, and the hardware threads.
std::string to_outline(const Machine& machine, std::string_view description);
/// The machine as aligned tables for people: the first rank, and how many there are.
std::string to_table(const Machine& machine);

}  // namespace refrain::machine
