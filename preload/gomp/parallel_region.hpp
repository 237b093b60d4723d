#pragma once
// A parallel region of this thread, while it lives.

#include "gomp/thread_events.hpp"

namespace refrain::gomp {

class ParallelRegion {
 public:
  ParallelRegion(Function* function, unsigned num_threads) : num_threads_(num_threads) {
    if (ThreadEvents* const events = ThreadEvents::here()) {
      num_threads_ = events->begin(function, num_threads);
    }
  }
  ~ParallelRegion() {
    if (ThreadEvents* const events = ThreadEvents::here()) events->end();
  }
  ParallelRegion(const ParallelRegion&) = delete;
  ParallelRegion& operator=(const ParallelRegion&) = delete;

  /// What libgomp is to be asked for.
  unsigned num_threads() const { return num_threads_; }

 private:
  unsigned num_threads_;
};

}  // namespace refrain::gomp
