#pragma once
// Background work: jobs beside the task graph, done in time that is left over. Nobody waits for one. Work that the
// graph needs is a node; the search of a history for repeats is a background job.
//
// The queue holds the jobs that nobody has begun, in the order in which they were posted, and knows whether they are
// late. Any thread calls any of its functions. A job is seen by a thread that is about to sleep, or its poster sees
// that thread (exec/notifier.hpp): `post` makes the change, the caller then notifies.
//
// Cost: `late` is one relaxed load of a line that is written when somebody hurries and when the queue is empty again;
// `any` is one load of a line that is written with each job.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "profile/clock.hpp"

namespace refrain::exec {

/// Given to Executor::post. It owns its data, and has an atomic of its own by which the poster may see that it is
/// done. It may run at the same time as others and outlive the context that posted it.
class BackgroundJob {
 public:
  virtual ~BackgroundJob() = default;
  /// At most once, on a thread that is in no body. Launches nothing and waits for nothing.
  virtual void run() noexcept = 0;
};

class BackgroundQueue {
 public:
  void post(std::shared_ptr<BackgroundJob> job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    // seq_cst: before the poster's look for sleepers; partner: Notifier::prepare.
    size_.fetch_add(1, std::memory_order_seq_cst);
    posted_.notify_one();
  }
  /// One that nobody else gets, the oldest unless said otherwise (`turn` is taken modulo their number); null: there is
  /// none.
  std::shared_ptr<BackgroundJob> take(std::uint64_t turn = 0) {
    if (!any()) return nullptr;
    const std::lock_guard lock(mutex_);
    if (jobs_.empty()) return nullptr;
    const auto at = jobs_.begin() + static_cast<std::ptrdiff_t>(turn % jobs_.size());
    std::shared_ptr<BackgroundJob> job = std::move(*at);
    jobs_.erase(at);
    size_.fetch_sub(1, std::memory_order_relaxed);
    if (jobs_.empty()) late_.store(false, std::memory_order_relaxed);
    return job;
  }
  /// Runs the job here, and counts it and its time. Returns the time.
  std::uint64_t run(BackgroundJob& job) {
    const std::uint64_t begin = profile::now_ns();
    job.run();
    const std::uint64_t ns = profile::now_ns() - begin;
    ns_.fetch_add(ns, std::memory_order_relaxed);
    run_.fetch_add(1, std::memory_order_relaxed);
    return ns;
  }
  /// The jobs in the queue are late, and so are those that come before it is empty.
  void hurry() {
    const std::lock_guard lock(mutex_);
    late_.store(!jobs_.empty(), std::memory_order_relaxed);
  }
  /// Drops all jobs; each ends without the lock.
  void drop() {
    while (take() != nullptr) {}
  }
  /// Sleeps for so long, or until there is a job.
  void nap(std::chrono::nanoseconds most) {
    std::unique_lock lock(mutex_);
    posted_.wait_for(lock, most, [this] { return !jobs_.empty(); });
  }

  // seq_cst: for the second look before sleep; partner: the notifier's load after `post`.
  [[nodiscard]] bool any() const { return size_.load(std::memory_order_seq_cst) != 0; }
  // relaxed: who sees it too late takes one node more before the job.
  [[nodiscard]] bool late() const { return late_.load(std::memory_order_relaxed); }
  /// How many jobs have been run, and how long that took.
  [[nodiscard]] std::uint64_t jobs_run() const { return run_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t ns() const { return ns_.load(std::memory_order_relaxed); }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::shared_ptr<BackgroundJob>> jobs_;
  std::atomic<std::size_t> size_{0};  ///< of jobs_
  std::atomic<std::uint64_t> run_{0}, ns_{0};
  alignas(64) std::atomic<bool> late_{false};
};

}  // namespace refrain::exec
