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
  bool is_described;  ///< descriptions list them; else they follow from the others
};
/// All kinds, in their order. Where a task has bodies for several, the default mapper takes the last.
std::span<const ProcessorTraits> processor_table();
inline const ProcessorTraits& traits_of(ProcessorKind kind) {
  return processor_table()[static_cast<std::size_t>(kind)];
}
bool may_reach(ProcessorKind processor, MemoryKind memory);

/// The most processors that a description may ask for.
inline constexpr int most_processors = 4096;

/// A machine that is being put together; the lists become a Machine once they are complete.
/// Ids are positions in the lists, so a processor or a memory keeps the id that add() gives it.
struct Description {
  std::string name;
  std::vector<Processor> processors;
  std::vector<Memory> memories;
  std::vector<Link> links;

  MemoryId add(MemoryKind kind, std::string memory_name, std::uint64_t capacity, int numa);
  Processor& add(ProcessorKind kind, std::string processor_name, int numa,
                 std::vector<MemoryId> reached);
  /// "cpuN" in a domain whose system memory has the same number; it reaches that first, then the others in order.
  Processor& add_cpu(int numa);
  /// Two links, one each way.
  void join(MemoryId a, MemoryId b, double bandwidth, double latency);
  /// A link from each memory to itself and to each other one, with the figures of common hardware. Call
  /// once, when all memories are there.
  void add_nominal_links();
  /// One gang per NUMA domain that has cpu processors; a gang reaches what its first cpu reaches.
  /// Call once, when all cpu processors are there.
  void add_gangs();

  /// The finished machine.
  Machine build() &&;
};

/// This computer: a system memory per NUMA domain and a cpu processor per core that this process may
/// use, each bound to one hardware thread of its core, and a gang per domain. Never fails: where the
/// topology cannot be read it reports one memory and as many cpus as the process may use.
/// Bandwidths and latencies are nominal, not measured. What the process may use is what its first call
/// could use: threads that bind themselves later do not make the machine smaller.
Machine discover();
/// The same before gangs are added, for descriptions that start from the real machine.
Description discover_description();

/// Makes the machine that --refrain:machine asks for: empty is discover(), a text that starts with
/// "emulated:" (or is just "emulated") is the short form, anything else names a JSON file. Throws
/// InputError that says where (file, line and column), what was expected and what was found.
Machine load(std::string_view description);

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

/// The least limit of the process's group and all enclosing ones. Of `controller` ("memory", "pids"), by the numbers in
/// the files `limits`, and how much is used by the one in `current`; nothing where none of them holds a limit. Files that
/// do not exist in a version are not looked at. Reads /proc/self/cgroup and /sys/fs/cgroup at each call. `root` stands
/// before all paths, for tests. Any thread.
std::optional<GroupLimit> least_group_limit(const std::string& controller,
                                            std::initializer_list<const char*> limits,
                                            std::initializer_list<const char*> current,
                                            const std::string& root = {});

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

/// What a NUMA domain has of `usable` bytes: in proportion to the memory that the hardware shows for it, of all that it
/// shows; evenly where it shows nothing.
std::uint64_t share_of_domain(std::uint64_t usable, std::uint64_t found, std::uint64_t in_all,
                              std::size_t domains);

/// Throws InputError unless programs can run on it here: a hardware thread that a processor is bound to is one that
/// this process may use, and a gpu is emulated. `description`: as for load().
void check_runs_here(const Machine& machine, std::string_view description);

/// The short form, "emulated:gpus=2,framebuffer=64MiB".
Machine parse_short_form(std::string_view text);
/// The JSON form. `file` is the name that errors give.
Machine parse_json(std::string_view text, const std::string& file);

/// Ascending numbers as people write them: "0-3, 8".
std::string in_ranges(const std::vector<int>& numbers);
/// The machine as a JSON description that parse_json reads back.
std::string to_json(const Machine& machine);
/// The machine as aligned tables for people.
std::string to_table(const Machine& machine);

}  // namespace refrain::machine
