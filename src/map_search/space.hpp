#pragma once
// The search space: the tasks of a program, the collections they are given, the kinds of processors and memories of a
// machine. A mapping is a point of it: it decides for each task whether and how its group is distributed and on which
// kind of processor it runs, and for each collection argument in which kind of memory it lies (Teixeira et al.,
// "Automated Mapping of Task-Based Programs onto Distributed and Heterogeneous Machines", sections 2 and 3.2).
//
// Values only; any thread. Everything is known by its index, and all orders of the algorithms come from these.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace refrain::map_search {

using Kind = std::
    uint8_t;  ///< of a processor, of a memory, of a distribution: an index into the space's list

struct MemoryKind {
  std::string name;
  std::uint64_t capacity = 0;  ///< bytes, all memories of this kind together; 0: no bound is known
};

struct ProcessorKind {
  std::string name;
  std::vector<Kind> memories;  ///< those that it addresses, ascending: the machine's order
  Kind nearest = 0;            ///< where the starting point puts its collections
  bool accelerator = false;    ///< the starting point prefers it
};

struct Task {
  std::string name;
  std::vector<Kind> variants;  ///< the processor kinds that it can run on, ascending
  double seconds = 0;  ///< all its runs together, as profiled: the longest task is searched first
  bool group = true;   ///< a single task has one distribution, the first
};

/// A collection argument of a task.
struct Argument {
  std::uint32_t task = 0;
  std::string name;
  std::uint64_t bytes = 0;  ///< the largest is searched first
};

/// Two arguments whose collections have data in common. An edge of the paper's graph C.
struct Overlap {
  std::uint32_t a = 0, b = 0;  ///< arguments
  std::uint64_t bytes = 0;     ///< the weight: the size of the intersection
};

struct Space {
  std::string
      program;  ///< names the program, its input and the machine: measurements of another are of no use
  std::vector<MemoryKind> memories;       ///< in the machine's order
  std::vector<ProcessorKind> processors;  ///< in the machine's order
  std::vector<std::string> distributions{"blocked",
                                         "leader"};  ///< the paper's true and false, then others
  std::vector<Task> tasks;
  std::vector<Argument> arguments;  ///< of the first task, of the second, ...
  std::vector<Overlap> overlaps;

  /// The indices of a task's arguments.
  [[nodiscard]] std::ranges::iota_view<std::uint32_t, std::uint32_t> arguments_of(
      std::uint32_t task) const;
  /// How many distributions a task can have.
  [[nodiscard]] Kind distributions_of(std::uint32_t task) const;
  [[nodiscard]] bool has_variant(std::uint32_t task, Kind processor) const;
  [[nodiscard]] bool addressable(Kind processor, Kind memory) const;
};

/// A space that contradicts itself. The text names the place and the reason.
class InvalidSpace : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// Throws InvalidSpace. The functions of this room require a space that passes.
void check(const Space& space);

/// 16 hexadecimal digits of what gives measurements of this space a meaning. The tasks' times are no part of it, since
/// they differ from profile to profile; neither is the choice of a starting point, nor are the distributions, which the
/// text of a mapping names.
[[nodiscard]] std::string fingerprint(const Space& space);

struct Mapping {
  std::vector<Kind> distribution;  ///< of each task
  std::vector<Kind> processor;     ///< of each task
  std::vector<Kind> memory;        ///< of each argument

  friend auto operator<=>(const Mapping&, const Mapping&) = default;
};
struct MappingHash {
  std::size_t operator()(const Mapping& mapping) const;
};

/// Whether a mapping can be run: each task has the variant, and its processor addresses its arguments' memories
/// (constraint 1 of section 4.2).
[[nodiscard]] bool executable(const Space& space, const Mapping& mapping);

/// Section 4.1: groups are distributed, tasks run on an accelerator where they have a variant, collections lie in the
/// memory nearest to it where they fit. What fits is counted from the longest task and the largest argument on, with
/// the data that two arguments share counted once.
[[nodiscard]] Mapping starting_point(const Space& space);

/// "blocked gpu fb zc; leader cpu sys": for each task its distribution, its processor, and its arguments' memories.
[[nodiscard]] std::string text(const Space& space, const Mapping& mapping);
/// The mapping that has this text; none where the text is of another space.
[[nodiscard]] std::optional<Mapping> mapping_of(const Space& space, std::string_view text);

/// The number of executable mappings; huge spaces have more than fit an integer.
[[nodiscard]] double size(const Space& space);
/// All executable mappings, one after the other.
[[nodiscard]] Mapping first_mapping(const Space& space);
/// False where `mapping` was the last one; it is then the first one again.
bool advance(const Space& space, Mapping& mapping);

/// The tasks from the longest to the shortest, the arguments of a task from the largest to the smallest (section 4.1).
/// Equal ones stay in the space's order.
[[nodiscard]] std::vector<std::uint32_t> tasks_by_time(const Space& space);
[[nodiscard]] std::vector<std::uint32_t> arguments_by_size(const Space& space, std::uint32_t task);

}  // namespace refrain::map_search
