#include "exec/gang_loops.hpp"

#include <algorithm>

namespace refrain::exec {

std::int64_t loop_piece(std::int64_t count, std::int64_t grain, int threads) {
  const std::int64_t even = count / (4 * threads) + (count % (4 * threads) != 0 ? 1 : 0);
  return std::max<std::int64_t>({1, grain, even});
}

void GangLoops::take_pieces(Loop& loop) {
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

void GangLoops::close(Loop& loop) {
  const auto at = std::find(loops_.begin(), loops_.end(), &loop);
  if (at == loops_.end()) return;
  loops_.erase(at);
  open_.fetch_sub(1, std::memory_order_relaxed);
}

void GangLoops::run(std::int64_t count, std::int64_t piece, const LoopBody& body,
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

bool GangLoops::help() {
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
