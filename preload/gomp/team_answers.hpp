#pragma once
// The size of a team that a region was to have, while it has a smaller one: what a thread of it is told.

#include "gomp/function.hpp"

namespace refrain::gomp {

/// A loop with a dynamic schedule that fewer threads do than the program asked for. Those that are not there may as well
/// have got none of its iterations: nobody promises that each gets one.
class LimitedLoop {
 public:
  LimitedLoop(Function* function, void* data, unsigned whole)
      : function_(function), data_(data), whole_(whole) {}

  /// For libgomp, with this as its data: calls the function in a thread that is told of the whole team.
  static void run(void* loop);

  /// How many threads this one's team is said to have; 0: as many as it has.
  static unsigned told();

 private:
  Function* function_;
  void* data_;
  unsigned whole_;
};

}  // namespace refrain::gomp
