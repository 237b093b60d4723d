#pragma once
// What is made when somebody first asks for it, by whoever that is.

#include <atomic>
#include <memory>

namespace refrain {

/// Threads: any may ask; where several ask at once, each makes one, all equal, and the first is kept. Only its owner resets
/// it, when nobody asks. Release and acquire: who is given the value sees all of it.
template <class T>
class MadeOnce {
 public:
  MadeOnce() = default;
  ~MadeOnce() { reset(); }
  MadeOnce(const MadeOnce&) = delete;
  MadeOnce& operator=(const MadeOnce&) = delete;

  /// `make()` gives a std::unique_ptr<const T>.
  template <class Make>
  const T& get(const Make& make) const {
    if (const T* known = made_.load(std::memory_order_acquire)) return *known;
    std::unique_ptr<const T> made = make();
    const T* first = nullptr;
    if (!made_.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel,
                                       std::memory_order_acquire))
      return *first;
    return *made.release();
  }
  void reset() { delete made_.exchange(nullptr, std::memory_order_relaxed); }

 private:
  mutable std::atomic<const T*> made_{nullptr};
};

}  // namespace refrain
