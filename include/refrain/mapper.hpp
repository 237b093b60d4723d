#pragma once
// Mappers decide, per launch, where tasks run and where their data lies. A mapper changes speed, never
// results. Its answers are remembered per launch signature until it calls forget(), so a mapper sees
// the signature and nothing else; one that wants to look at more declares itself every_launch and is
// asked each time (its answer then joins the signature).
//
// Threads: a task that launches asks on its own thread, so several ask at once.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "refrain/geometry.hpp"
#include "refrain/machine.hpp"
#include "refrain/privilege.hpp"
#include "refrain/sharding.hpp"
#include "refrain/where.hpp"

namespace refrain {

/// How an instance, which holds one field, lies in memory.
enum class Order : std::uint8_t {
  c,
  fortran
};  ///< which dimension is contiguous: the last, the first

/// How much of the region tree an instance covers.
enum class Extent : std::uint8_t {
  whole,  ///< the root region: all subregions share it and nothing is copied between them
  exact,  ///< the argument's own points: small memories
};

/// What an instance of scattered points has room for. One of points that are a rectangle is the same either way.
enum class Sparse : std::uint8_t {
  by_density,  ///< compact where the rectangle around the points has more than 64 times as many; any that there is will do
  box,         ///< the rectangle around the points: every point is reached by strides
  compact,  ///< the points alone, rectangle after rectangle, each in C order: a look-up per access, and no strides
};

struct Layout {
  Order order = Order::c;
  Extent extent = Extent::whole;
  Sparse sparse = Sparse::by_density;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// One region argument, as a mapper sees it.
struct MappingArgument {
  std::string_view field;
  Privilege privilege = Privilege::read;
  std::size_t value_size = 0;  ///< bytes per point
  std::size_t points = 0;      ///< of this point task's argument
  bool partitioned = false;    ///< each point of the group has its own piece
};

/// A launch, as a mapper sees it.
struct MappingInput {
  std::string_view task;
  Where where;
  bool group = false;
  int dim = 1;
  std::size_t points = 1;  ///< number of points of the launch
  std::size_t rank = 0;    ///< which of them is asked about
  Point<3> point{};
  Rect<3> bounds{};  ///< the smallest box around the points of the launch
  std::span<const MappingArgument> arguments;
  std::span<const ProcessorKind> variants;  ///< kinds the task has a body for and the machine has
  const Machine* machine = nullptr;
};

/// What gives way where a memory has no room for a new instance, before the next memory of the list is tried: what was
/// used longest ago, but nothing that the present point task uses.
enum class WhenFull : std::uint8_t {
  evict,  ///< any instance
  next,  ///< instances whose values are valid elsewhere, too, unless a later memory has what is wanted already;
         ///< any, only after all memories were tried
};

/// Where one argument's instance should be.
struct ArgumentMapping {
  std::vector<MemoryId>
      memories;  ///< tried in this order; each must be reachable from the processor
  Layout layout{};
  WhenFull when_full = WhenFull::evict;
  friend bool operator==(const ArgumentMapping&, const ArgumentMapping&) = default;
};

/// The answer for one point task.
struct MappingOutput {
  ProcessorId processor = 0;
  int priority = 0;
  std::vector<ArgumentMapping> arguments;  ///< one per argument
};

/// A group launch of a program on several shards, as a mapper sees it that divides it among them.
struct ShardingInput {
  std::string_view task;
  Where where;
  int dim = 1;
  std::size_t points = 1;  ///< number of points of the launch
  Rect<3> bounds;          ///< the smallest box around them
  ShardId shards = 1;
};

class Mapper {
 public:
  virtual ~Mapper() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Decides for one point task. `output` comes filled in by the default rules: a mapper may change
  /// only what it cares about. The answer is validated; an invalid one is a UsageError naming mapper,
  /// task and launch.
  virtual void map(const MappingInput& input, MappingOutput& output) = 0;
  /// Which points of a group launch run on which shard, where a program runs on several. The answer has to be the same
  /// on every shard, and is remembered per launch signature until forget(), also where every_launch() is true. A single
  /// launch runs where most of what it writes lies. (Sharding functions: "Dynamic control replication", section 4.)
  virtual Sharding sharding(const ShardingInput& /*launch*/) { return Sharding::blocked(); }
  /// True: asked at every launch instead of once per signature. That the answer has changed may be seen some launches late.
  [[nodiscard]] virtual bool every_launch() const { return false; }

  /// Forgets all remembered answers: the next launches ask again. Any thread.
  void forget() noexcept { epoch_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t epoch() const noexcept {
    return epoch_.load(std::memory_order_relaxed);
  }

 private:
  // Relaxed: a launch that races with forget() may use either answer; both are right.
  std::atomic<std::uint64_t> epoch_{0};
};

}  // namespace refrain
