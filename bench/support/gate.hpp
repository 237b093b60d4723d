#pragma once
// Parks a worker: it stays in the body of a task, asleep, until the launching thread has launched what
// is to be measured without being run. The program launches a task that calls `pass`, and waits
// until somebody is held there; a runtime with one worker runs nothing then until the gate opens.
//
// The launching thread calls all but `pass`. It may itself come to run the task (a launch may run
// others), and then passes: nobody is held, and what was to be measured is not.

#include <atomic>
#include <thread>

namespace refrain::bench {

class Gate {
 public:
  /// From now on the first to come is held.
  void close() { state_.store(State::closed); }

  /// A task's side: returns when the gate is open.
  void pass() {
    State expected = State::closed;
    const bool own = std::this_thread::get_id() == owner_;
    if (!state_.compare_exchange_strong(expected, own ? State::open : State::held)) return;
    state_.notify_all();
    if (!own) state_.wait(State::held);
  }

  /// Waits until somebody has come. False: it was this thread, and the gate is open again.
  bool wait_until_held() {
    state_.wait(State::closed);
    return state_.load() == State::held;
  }

  void open() {
    state_.store(State::open);
    state_.notify_all();
  }

 private:
  enum class State { open, closed, held };

  const std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<State> state_{State::open};
};

}  // namespace refrain::bench
