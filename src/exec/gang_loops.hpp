#pragma once
// Parallel loops of gang tasks. The body of a loop may not wait, so any thread may help with any loop.
//
// ParallelLoop is one loop, cut into pieces, and the exception that it ends with. Any thread runs any of its pieces.
//
// GangLoops is the list of the loops that threads may help with. The caller of `run` publishes its loop, takes pieces as
// the helpers do, and returns when all are done. `help` takes pieces until none is left, and returns false when there was
// none. Loops live on their callers' stacks: a helper counts itself in under the lock before it touches a loop, and the
// caller leaves only when no helper is counted. Any thread calls both. Cost: a lock per loop and per helper, a locked
// instruction per piece.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace refrain::exec {

using LoopBody = std::function<void(std::int64_t, std::int64_t)>;

class ParallelLoop {
 public:
  /// For `threads` threads; a piece has `grain` at least.
  ParallelLoop(std::int64_t count, std::int64_t grain, int threads, const LoopBody& body)
      : count_(std::max<std::int64_t>(0, count)),
        piece_(std::max<std::int64_t>({1, grain, parts(count_, 4 * std::int64_t{threads})})),
        pieces_(parts(count_, piece_)),
        body_(body) {}

  [[nodiscard]] std::int64_t pieces() const { return pieces_; }
  void run(std::int64_t piece) {
    const std::int64_t begin = piece * piece_;
    try {
      body_(begin, begin + std::min(piece_, count_ - begin));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_ || piece < failed_at_) {
        error_ = std::current_exception();
        failed_at_ = piece;
      }
    }
  }
  /// When all pieces have been run: throws what the lowest has thrown.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  friend class GangLoops;
  /// Any thread: those that nobody has taken.
  void run_rest() {
    for (std::int64_t piece; (piece = next_.fetch_add(1, std::memory_order_relaxed)) < pieces_;)
      run(piece);
  }
  static constexpr std::int64_t parts(std::int64_t whole, std::int64_t part) {
    return whole / part + (whole % part != 0 ? 1 : 0);
  }

  const std::int64_t count_, piece_, pieces_;
  const LoopBody& body_;
  std::atomic<std::int64_t> next_{0};  ///< the first piece that nobody has taken
  int helpers_ = 0;                    ///< under the lock of the list
  std::mutex mutex_;
  std::int64_t failed_at_ = 0;
  std::exception_ptr error_;
};

class GangLoops {
 public:
  /// Runs all pieces; `published` is called once helpers may come. Every piece is run, also after one has thrown; the
  /// exception of the lowest piece is thrown at the end.
  void run(ParallelLoop& loop, const std::function<void()>& published) {
    if (loop.pieces() > 1) {
      {
        const std::lock_guard lock(mutex_);
        loops_.push_back(&loop);
        // seq_cst: before the look for sleepers in `published`; partner: Notifier::prepare.
        open_.fetch_add(1, std::memory_order_seq_cst);
      }
      published();
    }
    loop.run_rest();
    std::unique_lock lock(mutex_);
    close(loop);
    left_.wait(lock, [&] { return loop.helpers_ == 0; });
    lock.unlock();
    loop.rethrow();
  }
  bool help() {
    if (!any()) return false;
    std::unique_lock lock(mutex_);
    if (loops_.empty()) return false;
    ParallelLoop& loop = *loops_.front();
    ++loop.helpers_;
    lock.unlock();
    loop.run_rest();
    lock.lock();
    close(loop);  // no piece is left, so nobody else need come
    if (--loop.helpers_ == 0) left_.notify_all();
    return true;
  }
  [[nodiscard]] bool any() const { return open_.load(std::memory_order_seq_cst) != 0; }

 private:
  void close(ParallelLoop& loop) {
    if (std::erase(loops_, &loop) != 0) open_.fetch_sub(1, std::memory_order_relaxed);
  }

  std::mutex mutex_;
  std::condition_variable left_;
  std::vector<ParallelLoop*> loops_;
  std::atomic<int> open_{0};  ///< size of loops_
};

}  // namespace refrain::exec
