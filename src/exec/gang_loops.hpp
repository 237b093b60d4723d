#pragma once
// Parallel loops of gang tasks: the caller publishes a loop, threads that have nothing else to do take
// pieces of it, the caller takes pieces too and returns when all are done. A loop's body may not wait,
// so helping with any loop is safe for any thread.
//
// run: any thread. help: any thread, returns false when there is nothing to take. Loops live on their
// callers' stacks; a helper counts itself in under the lock before it touches a loop, and the caller
// leaves only when no helper is counted.

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

/// The size of the pieces of a loop for `threads` threads; `grain` is the least.
inline std::int64_t loop_piece(std::int64_t count, std::int64_t grain, int threads) {
  const std::int64_t even = count / (4 * threads) + (count % (4 * threads) != 0 ? 1 : 0);
  return std::max<std::int64_t>({1, grain, even});
}
/// How many pieces of that size there are.
constexpr std::int64_t loop_pieces(std::int64_t count, std::int64_t piece) {
  return count / piece + (count % piece != 0 ? 1 : 0);
}

class GangLoops {
 public:
  /// Runs body over [0, count) in pieces; `published` is called once helpers may come. Every piece is
  /// run, also after one has thrown; the exception of the lowest piece is thrown at the end.
  void run(std::int64_t count, std::int64_t piece, const LoopBody& body,
           const std::function<void()>& published);
  bool help();
  [[nodiscard]] bool any() const { return open_.load(std::memory_order_seq_cst) != 0; }

 private:
  struct Loop {
    Loop(std::int64_t whole, std::int64_t part, const LoopBody& f)
        : count(whole), piece(part), pieces(loop_pieces(whole, part)), body(f) {}
    std::int64_t count;
    std::int64_t piece;
    std::int64_t pieces;
    const LoopBody& body;
    std::atomic<std::int64_t> next{0};  // the first piece that nobody has taken
    int helpers = 0;                    // under mutex_
    std::int64_t failed_at = 0;
    std::exception_ptr error;  // under mutex_
  };

  void take_pieces(Loop& loop);
  void close(Loop& loop);

  std::mutex mutex_;
  std::condition_variable left_;
  std::vector<Loop*> loops_;
  std::atomic<int> open_{0};  ///< size of loops_
};

inline void GangLoops::take_pieces(Loop& loop) {
  while (true) {
    const std::int64_t piece = loop.next.fetch_add(1, std::memory_order_relaxed);
    if (piece >= loop.pieces) return;
    const std::int64_t begin = piece * loop.piece;
    try {
      loop.body(begin, begin + std::min(loop.piece, loop.count - begin));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!loop.error || begin < loop.failed_at) {
        loop.error = std::current_exception();
        loop.failed_at = begin;
      }
    }
  }
}

inline void GangLoops::close(Loop& loop) {
  const auto at = std::find(loops_.begin(), loops_.end(), &loop);
  if (at == loops_.end()) return;
  loops_.erase(at);
  open_.fetch_sub(1, std::memory_order_relaxed);
}

inline void GangLoops::run(std::int64_t count, std::int64_t piece, const LoopBody& body,
                           const std::function<void()>& published) {
  if (count <= 0) return;
  Loop loop(count, piece, body);
  if (count > piece) {
    {
      const std::lock_guard lock(mutex_);
      loops_.push_back(&loop);
      // seq_cst: before the look for sleepers in `published`; partner: Notifier::prepare.
      open_.fetch_add(1, std::memory_order_seq_cst);
    }
    published();
  }
  take_pieces(loop);
  std::unique_lock lock(mutex_);
  close(loop);
  left_.wait(lock, [&] { return loop.helpers == 0; });
  if (loop.error) std::rethrow_exception(loop.error);
}

inline bool GangLoops::help() {
  if (!any()) return false;
  std::unique_lock lock(mutex_);
  if (loops_.empty()) return false;
  Loop& loop = *loops_.front();
  ++loop.helpers;
  lock.unlock();
  take_pieces(loop);
  lock.lock();
  close(loop);  // no piece is left, so nobody else need come
  if (--loop.helpers == 0) left_.notify_all();
  return true;
}

}  // namespace refrain::exec
