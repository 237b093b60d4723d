#pragma once
// A call of an MPI function by the program, as the wrappers (generate.py) see it.

#include <cstddef>

#include "mpi/event.hpp"
#include "support/next.hpp"

namespace refrain::preload {

/// While it lasts. What MPI calls of its own within it, as some do in Fortran and for files, are no calls of the
/// program. Any thread; what threads have is their own.
class Call {
 public:
  Call() : by_program_(depth_++ == 0) {}
  ~Call() { --depth_; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// The event of this thread's stream, if it has one and the program makes the call. `ask`: predictions are made, and
  /// counted as right or wrong when their events come.
  void happens(const Event& event, bool ask = false) const {
    if (by_program_) submit(event, ask);
  }

 private:
  static void submit(const Event& event, bool ask);

  static constinit thread_local int depth_;
  const bool by_program_;
};

/// Writes what this thread has done so far.
void write_events();

/// A communicator is about to be freed: another one may get its handle. Who uses that later in another thread has
/// synchronised with its making, and so sees that it has to forget; a relaxed counter is enough.
void forget_communicators();

}  // namespace refrain::preload
