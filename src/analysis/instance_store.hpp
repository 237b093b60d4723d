#pragma once
// Where instances get their bytes, and where the bytes go when an instance ends while operations that
// use it may still run.
//
// To this context the bytes of an instance are free as soon as it ends, so that what finds room, where, and
// what is evicted follow from the order of its launches. A launch that gets bytes whose users are not done
// waits for them itself: no operation ever waits for storage, and no edge of the graph is there for its sake.
// To other contexts, which cannot wait for these users, the bytes are free when the users are done and this
// has noticed.
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

  /// All that was allocated goes back, whatever is known of it: nobody uses it, and nothing more is asked of this.
  void abandon() noexcept;

  [[nodiscard]] std::size_t alive() const { return alive_; }
  /// Instance::serial of the next one.
  [[nodiscard]] std::uint64_t next_serial() const { return next_serial_; }
  [[nodiscard]] const std::vector<Instance*>& in_memory(MemoryId memory) const {
    return live_[memory];
  }
  /// The instance of the pool's in this memory whose last use is longest ago; null if there is none. Costs
  /// O(log n) for each that was used since this last looked at it.
  [[nodiscard]] Instance* least_recently_used(MemoryId memory);
  [[nodiscard]] Memories& memories() { return memories_; }
  /// An instance whose bytes are not the pool's (attached, borrowed) joins the books.
  void adopt(Instance& instance);

 private:
  /// By the last use that is known here; it may have been used since, which its user does not tell.
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

  /// For constant time on average, and so that what is held back for nothing stays little.
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
