#pragma once
// What is done before SIGTERM or SIGINT end the process: reports are written (runtime/reports.cpp).
//
// While somebody asks for it, a handler is set for each of the two signals that would end the process. One that the
// program handles or ignores is left as it is, and what the program sets later stays, too. The handler only
// wakes a thread that waits for this, and returns; the program goes on meanwhile. When that thread is done the process
// ends by the signal, as it would have. A second signal ends it at once, and so does one in a child process.
//
// Where no thread can be had for this, stderr is told so once, and the signals end the process at once.
//
// Threads: any. Cost: a thread that sleeps, while somebody asks.

#include <pthread.h>

#include <functional>
#include <list>

namespace refrain::runtime {

class BeforeTermination {
 public:
  /// `act` is called on a thread of its own, while all others go on, at most once.
  explicit BeforeTermination(std::function<void()> act);
  /// Waits where `act` is running: then the process ends before it returns.
  ~BeforeTermination();
  BeforeTermination(const BeforeTermination&) = delete;

  /// Within `act`: calls f(argument) on another thread of the process, between two of its instructions, as a signal
  /// handler (signal-safety(7)); not at all where that thread does not come by within a second.
  static void interrupt(pthread_t thread, void (*f)(void*), void* argument);

 private:
  std::list<std::function<void()>>::iterator place_;
};

}  // namespace refrain::runtime
