#pragma once
// A sample that is mined beside the program, and who mines it.
//
// Owner: a job is shared by the finder, which makes it and takes what was found, and one thread, which runs it.

#include <atomic>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "finder/history.hpp"
#include "finder/mining.hpp"

namespace refrain::autotrace {

/// A sample and, in the end, what was found in it.
class MiningJob {
 public:
  MiningJob(Sample sample, const MiningLimits& limits)
      : sample_(std::move(sample)), limits_(limits) {}

  [[nodiscard]] std::size_t tokens() const { return sample_.tokens.size(); }

  /// On any thread; whoever comes first does it. False: somebody else has begun.
  bool run() noexcept {
    // relaxed: the sample was there before the job was shared.
    if (begun_.exchange(true, std::memory_order_relaxed)) return false;
    try {
      repeats_ = mine(sample_, limits_);
    } catch (const std::bad_alloc&) {}  // then nothing was found
    // release: partner of the load in is_done; the repeats are there.
    done_.store(true, std::memory_order_release);
    return true;
  }
  [[nodiscard]] bool is_done() const { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] std::vector<MinedRepeat> take() { return std::move(repeats_); }

 private:
  Sample sample_;
  MiningLimits limits_;
  std::vector<MinedRepeat> repeats_;
  std::atomic<bool> begun_{false}, done_{false};
};

/// Who mines.
class Miners {
 public:
  virtual ~Miners() = default;
  /// Some thread runs the job when it has nothing else to do. False: there is none.
  virtual bool post(const std::shared_ptr<MiningJob>& job) = 0;
  /// A job is late.
  virtual void hurry() = 0;
};

}  // namespace refrain::autotrace
