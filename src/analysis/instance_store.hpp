#pragma once
// Where instances get their bytes, and where the bytes go when an instance ends while operations that
// use it may still run.
//
// Bytes go back to the pool, which contexts share, when the last user has completed; so no operation ever
// waits for storage, and no edge of the graph is there for its sake. Where there is no room, the launch
// waits until all bytes that are on their way back have arrived, before anything is evicted: what is
// evicted then does not depend on how far operations are.
//
// Owner: the context's thread; the pools below are shared between contexts and lock.

#include <cstdint>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "analysis/instance.hpp"
#include "data/memory_pool.hpp"

namespace refrain::analysis {

/// The pools of all memories of the machine, by MemoryId. Shared by all contexts.
class Memories {
 public:
  explicit Memories(const Machine& machine);
  [[nodiscard]] data::MemoryPool& pool(MemoryId memory) { return *pools_[memory]; }
  [[nodiscard]] const Machine& machine() const { return machine_; }

 private:
  const Machine& machine_;
  std::vector<std::unique_ptr<data::MemoryPool>> pools_;
};

class InstanceStore {
 public:
  explicit InstanceStore(Memories& memories);
  ~InstanceStore();

  /// An instance with storage, or null when the memory has no room.
  std::unique_ptr<Instance> allocate(const data::IndexSpaceRef& space, std::size_t value_size,
                                     MemoryId memory, const Layout& layout);
  /// Ends an instance (any kind of storage) that `users` may still be using.
  void retire(std::unique_ptr<Instance> instance, std::vector<exec::NodeRef> users);
  /// Hands back the bytes of retired instances whose users have completed.
  void collect();
  /// The same when many have been retired since: constant time on average.
  void collect_now_and_then() {
    if (retired_.size() >= look_again_at_) collect();
  }
  /// A user of bytes of this memory that will come back when operations in flight complete; or null.
  [[nodiscard]] const exec::NodeRef* first_blocker(MemoryId memory) const;

  [[nodiscard]] std::size_t alive() const { return alive_; }
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
  void give_back(const Instance& instance);

  /// By the last use that is known here; it may have been used since, which its user does not tell.
  struct UsedEarlier {
    bool operator()(const Instance* a, const Instance* b) const {
      return std::tie(a->queued_use, a->serial) < std::tie(b->queued_use, b->serial);
    }
  };

  struct Retired {
    std::unique_ptr<Instance> instance;  ///< its users still look at it
    std::vector<exec::NodeRef> users;
  };

  Memories& memories_;
  std::vector<Retired> retired_;    ///< waiting for their users, oldest first
  std::size_t look_again_at_ = 16;  ///< size of retired_ at which collect looks at all of it
  std::vector<std::vector<Instance*>> live_;              ///< per memory
  std::vector<std::set<Instance*, UsedEarlier>> by_use_;  ///< per memory, those of the pool's
  std::uint64_t next_serial_ = 0;
  std::size_t alive_ = 0;
};

}  // namespace refrain::analysis
