#pragma once
// A parallel region of this thread, while it lives.

#include "gomp/folded_team.hpp"
#include "gomp/thread_events.hpp"

namespace refrain::gomp {

class ParallelRegion {
 public:
  ParallelRegion(Function* function, unsigned num_threads, Construct construct) {
    FoldedTeam::start_here();  // a region within it
    events_ = ThreadEvents::here();
    if (events_ != nullptr) open_ = events_->begin(function, num_threads, construct);
    else open_.team.threads = num_threads;
  }
  ~ParallelRegion() {
    // After a fork() in the region this thread has others, or none.
    if (events_ != nullptr && events_ == ThreadEvents::here()) events_->end(open_, stayed_);
  }
  ParallelRegion(const ParallelRegion&) = delete;
  ParallelRegion& operator=(const ParallelRegion&) = delete;

  [[nodiscard]] const Team& team() const { return open_.team; }
  /// Does the region by a folded team.
  void fold(Function* function, void* data) {
    stayed_ = FoldedTeam::run(function, data, open_.team.whole);
  }

 private:
  ThreadEvents* events_;
  ThreadEvents::Open open_;
  bool stayed_ = true;  ///< as it was chosen
};

}  // namespace refrain::gomp
