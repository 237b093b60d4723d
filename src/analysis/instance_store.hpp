#pragma once
// The bytes of a context's instances. An instance may end while operations still use its bytes.
//
// To this context the bytes are free as soon as the instance ends, so placement and eviction follow from the order of
// its launches alone. A launch that gets bytes whose users are not done waits for these users itself: no operation
// ever waits for storage, and no edge of the graph exists for its sake. To other contexts, which cannot wait for these
// users, the bytes are free once the users are done and the store has noticed.
//
// Owner: the context's thread; the pools below are shared between contexts and lock.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "analysis/instance.hpp"
#include "base/sure_memory.hpp"
#include "memory/memory_pool.hpp"

namespace refrain::analysis {

/// The pools of all memories of the machine, by MemoryId. Shared by all contexts.
class Memories {
 public:
  explicit Memories(const Machine& machine);
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

  [[nodiscard]] std::size_t alive() const { return alive_; }
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
  std::size_t alive_ = 0;
};

}  // namespace refrain::analysis
