#pragma once
// The lanes that an executor's threads may run: those of schedules with replays in flight (graph/lanes.hpp). A thread takes
// the lane of its own number where it can: what a lane's operations use is then in the caches of one core. Lanes of others
// it takes when their threads have given them up, or when it has long had nothing else to do.
//
// Any thread. Cost: a load where there are none, else a lock.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/sure_memory.hpp"
#include "graph/lanes.hpp"

namespace refrain::exec {

class ActiveLanes {
 public:
  struct Held {
    Lanes* of = nullptr;  ///< null: there was none
    std::uint32_t lane = 0;
  };

  void add(Lanes& lanes) {
    const std::lock_guard lock(mutex_);
    all_.push_back(&lanes);
    // seq_cst: before its replay is issued; partner: the load in take, which may be the look before sleep.
    count_.store(static_cast<std::uint32_t>(all_.size()), std::memory_order_seq_cst);
  }
  /// Nobody runs them afterwards.
  void remove(Lanes& lanes) {
    {
      const std::lock_guard lock(mutex_);
      std::erase(all_, &lanes);
      count_.store(static_cast<std::uint32_t>(all_.size()), std::memory_order_seq_cst);
    }
    lanes.close();
  }
  [[nodiscard]] bool any() const { return count_.load(std::memory_order_seq_cst) != 0; }

  /// A lane that may go on, for the thread with number `own` to hold. `of_others`: also those that their threads may come
  /// back to.
  Held take(std::uint32_t own, bool of_others) {
    if (!any()) return {};
    const std::lock_guard lock(mutex_);
    for (Lanes* lanes : all_)
      if (own < lanes->size() && lanes->may_go_on(own) && lanes->hold(own)) return {lanes, own};
    for (Lanes* lanes : all_)
      for (std::uint32_t lane = 0; lane < lanes->size(); ++lane)
        if ((of_others || lanes->is_parked(lane)) && lanes->may_go_on(lane) && lanes->hold(lane))
          return {lanes, lane};
    return {};
  }

 private:
  std::mutex mutex_;
  std::vector<Lanes*, SureAllocator<Lanes*>> all_;
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace refrain::exec
