#pragma once
// An instance: storage for one field over a set of points in one memory, affine or compact (data/layout.hpp). The same points can
// be valid in several instances at once. The instances of a field are in an InstanceSet, which finds them; their bytes
// are from the InstanceStore of the context.
//
// An instance may end while operations still use its bytes. To its context the bytes are free as soon as the instance
// ends, so placement and eviction follow from the order of its launches alone. A launch that gets bytes whose users are
// not done waits for these users itself: no operation ever waits for storage, and no edge of the graph exists for its
// sake. To other contexts, which cannot wait for these users, the bytes are free once the users are done and the store
// has noticed.
//
// Owner: the thread of the context; the pools are shared between contexts and lock. Running operations only read zero
// and stride, which never change, and use `poison`, which locks.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/poison.hpp"
#include "base/sure_memory.hpp"
#include "data/box_index.hpp"
#include "data/index_space.hpp"
#include "graph/node.hpp"
#include "memory/memory_pool.hpp"
#include "memory/mover.hpp"
#include "refrain/accessor.hpp"
#include "refrain/machine.hpp"
#include "refrain/mapper.hpp"

namespace refrain::analysis {

class FieldState;

/// Who owns an instance's bytes.
enum class Storage : std::uint8_t {
  pool,      ///< the memory's pool
  attached,  ///< the program's memory, between attach and detach
  borrowed,  ///< the parent task's argument, seen from a nested context
  none,      ///< a placeholder: in a recording, for an instance that each replay has of its own
};

/// The placement never changes.
struct alignas(64) Instance : refrain::detail::Placement {
  std::uint64_t last_use = 0;  ///< number of the last point task that used it (for eviction)
  FieldState* field = nullptr;
  data::IndexSpaceRef space;  ///< the points it has room for
  MemoryId memory = 0;
  Layout layout;
  Storage storage = Storage::pool;
  const memory::Mover* mover = &memory::cpu_mover();  ///< its memory's
  void* bytes = nullptr;                              ///< what the pool gave
  std::size_t size = 0;                               ///< of it
  std::uint32_t number = 0;      ///< order of creation among those of its field that are alive
  std::size_t position = 0;      ///< its place in InstanceStore::in_memory; or in Recording::own
  std::uint64_t serial = 0;      ///< order of creation within its store
  std::uint64_t queued_use = 0;  ///< what last_use was when InstanceStore last looked
  /// Operations with an argument here that has no points. No equivalence set knows them, but they refer to the
  /// instance.
  std::vector<exec::NodeRef> empty_users;
  /// Borrowed from a parent that reduces: the contributions of its children go here, and there are no bytes.
  refrain::detail::Accumulator* accumulator = nullptr;
  /// Task and source line, for messages about full memories; null: the program.
  std::shared_ptr<const std::string> made_by;
  mutable Poison poison;  ///< failures that it has in place of values
  /// Of a placeholder: the instance that the present replay has for it, or null. Of an instance whose making is being
  /// recorded: its placeholder.
  Instance* bound_to = nullptr;
};

/// The instance that a recording's instance stands for now: null if that one is not alive.
constexpr auto present = []<class T>(T* instance) -> T* {
  return instance->storage == Storage::none ? instance->bound_to : instance;
};

/// The instances of one field, with an index of the boxes that they have room for. So finding one among n costs
/// O(log n), and a look at each that has room for one and the same point. Owner: the field state.
class InstanceSet {
 public:
  /// The instance to use for these points in this memory: one outside the pool, or the first made with this order of
  /// dimensions and, where that is asked for, compact or not; null when none contains the points.
  [[nodiscard]] Instance* find(const data::IndexSpaceRef& points, MemoryId memory,
                               const Layout& layout) const;
  Instance& add(std::unique_ptr<Instance> instance);
  std::unique_ptr<Instance> remove(Instance& instance);
  /// In order of creation.
  [[nodiscard]] const std::vector<std::unique_ptr<Instance>>& all() const { return all_; }

 private:
  std::vector<std::unique_ptr<Instance>> all_;
  data::BoxIndex<Instance> index_;
};

/// The pools of all memories of the machine, by MemoryId. Shared by all contexts.
class Memories {
 public:
  explicit Memories(const Machine& machine, const memory::Mover& mover = memory::cpu_mover());
  [[nodiscard]] memory::MemoryPool& pool(MemoryId memory) { return *pools_[memory]; }
  [[nodiscard]] const Machine& machine() const { return machine_; }

 private:
  const Machine& machine_;
  std::vector<std::unique_ptr<memory::MemoryPool>> pools_;
};

class InstanceStore {
 public:
  explicit InstanceStore(Memories& memories);
  ~InstanceStore();

  /// Returns when an operation is complete, or throws.
  using Wait = std::function<void(const exec::NodeRef&)>;

  /// An instance with storage that nobody else uses, or null when the memory has no room.
  std::unique_ptr<Instance> allocate(const data::IndexSpaceRef& space, std::size_t value_size,
                                     MemoryId memory, const Layout& layout, const Wait& wait);
  /// Ends an instance (any kind of storage) that `users` may still be using.
  void retire(std::unique_ptr<Instance> instance, std::vector<exec::NodeRef> users);

  /// Gives back everything that was allocated, in use or not. The store must not be used afterwards.
  void abandon() noexcept;

  [[nodiscard]] std::size_t alive() const;
  /// Instance::serial of the next one.
  [[nodiscard]] std::uint64_t next_serial() const { return next_serial_; }
  [[nodiscard]] const std::vector<Instance*>& in_memory(MemoryId memory) const {
    return live_[memory];
  }
  /// Of the pool's instances in this memory, the one used longest ago; null if there is none. Costs O(log n) for each
  /// instance that was used since the last call saw it.
  [[nodiscard]] Instance* least_recently_used(MemoryId memory);
  [[nodiscard]] Memories& memories() { return memories_; }
  /// Takes in an instance whose bytes are not the pool's (attached, borrowed).
  void adopt(Instance& instance);

 private:
  /// By the last use that is known here. Later uses are noted on the instance only.
  struct UsedEarlier {
    bool operator()(const Instance* a, const Instance* b) const {
      return std::tie(a->queued_use, a->serial) < std::tie(b->queued_use, b->serial);
    }
  };

  struct Retired {
    std::uint64_t number;                ///< in order of retirement
    std::unique_ptr<Instance> instance;  ///< its users still look at it
    std::vector<exec::NodeRef> users;
  };

  /// Collects rarely enough for constant time on average, and often enough that few bytes are held back in vain.
  void collect_now_and_then() {
    if (retired_.size() >= look_again_at_ || retired_bytes_ >= look_again_at_bytes_) collect();
  }
  void collect();
  void hold_back(std::unique_ptr<Instance> instance, std::vector<exec::NodeRef> users);
  void settle(const Retired& retired);
  void finish(std::uint64_t number, const Wait& wait);
  Retired& find_retired(std::uint64_t number);

  Memories& memories_;
  std::vector<Retired, SureAllocator<Retired>> retired_;  ///< waiting for their users, oldest first
  std::uint64_t next_retired_ = 0;
  std::uint64_t retired_bytes_ = 0;
  /// Size of retired_, and bytes, at which collect looks at all of it.
  static constexpr std::size_t kFew = 16;
  static constexpr std::uint64_t kFewBytes = std::uint64_t{16} << 20;
  std::size_t look_again_at_ = kFew;
  std::uint64_t look_again_at_bytes_ = kFewBytes;
  std::vector<std::vector<Instance*>> live_;              ///< per memory
  std::vector<std::set<Instance*, UsedEarlier>> by_use_;  ///< per memory, those of the pool's
  std::uint64_t next_serial_ = 0;
};

}  // namespace refrain::analysis
