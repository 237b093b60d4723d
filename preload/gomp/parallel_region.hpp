#pragma once
// A parallel region of this thread, while it lives.

#include "gomp/folded_team.hpp"
#include "gomp/thread_events.hpp"

namespace refrain::gomp {

class ParallelRegion {
 public:
  ParallelRegion(Function* function, unsigned num_threads, Construct construct)
      : team_{.threads = num_threads} {
    FoldedTeam::start_here();  // a region within it
    events_ = ThreadEvents::here();
    if (events_ != nullptr) team_ = events_->begin(function, num_threads, construct);
  }
  ~ParallelRegion() {
    // After a fork() in the region this thread has others, or none.
    if (events_ != nullptr && events_ == ThreadEvents::here()) events_->end(stayed_);
  }
  ParallelRegion(const ParallelRegion&) = delete;
  ParallelRegion& operator=(const ParallelRegion&) = delete;

  [[nodiscard]] const Team& team() const { return team_; }
  /// Does the region by a folded team.
  void fold(Function* function, void* data) {
    stayed_ = FoldedTeam::run(function, data, team_.whole);
  }

 private:
  Team team_;
  ThreadEvents* events_;
  bool stayed_ = true;  ///< as it was chosen
};

}  // namespace refrain::gomp
