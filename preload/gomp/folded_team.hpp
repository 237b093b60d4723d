#pragma once
// A team whose threads are coroutines of its master. The region's function is called once for each thread of the team,
// as OpenMP says, with the thread numbers and the size that the program has a right to; but one thread of the kernel
// does all of it: thread 0 first, then thread 1, and so on. At a barrier the next one goes on, on a stack of its own.
//
// What the program can see is one of the orders in which a whole team might have done it. It stays so because a folded
// team answers three questions only (thread number, team size, barrier). At anything else that has to do with the team,
// libgomp starts it, late: its threads take over the coroutines where they are, and the region goes on as ever. That is
// always possible, and so nothing has to be known about a region before it is folded.
//
// What differs is what belongs to the kernel's threads: thread-local variables, their identity, floating-point modes.
// Of the modes this looks after itself: where a thread of the team changes its own, the team is started.
// For the others see visible_threads.hpp, which says whether a program could see them. And threads that wait for each
// other by what they write to memory need to run at the same time: see watchdog.hpp.
//
// One thread, the master, until the team is started; libgomp synchronises its threads with that. A region costs a call
// of its function for each thread of the team, and some 10 ns for each coroutine.

#include <cstdint>
#include <vector>

#include "gomp/function.hpp"

namespace refrain::gomp {

/// How a thread computes with floating-point numbers: rounding, precision, which exceptions are trapped. Not, which
/// ones have been raised.
struct FloatingPointMode {
  std::uint32_t sse = 0;
  std::uint16_t x87 = 0;  ///< long double
  bool operator==(const FloatingPointMode&) const = default;

  static FloatingPointMode here();
  /// From now on this thread's.
  void set() const;
  /// A thread has done its part of a region that began in this one. If it leaves another, threads differ.
  void note_change() const;
};

class FoldedTeam {
 public:
  /// Whether this thread can fold teams, on this kind of machine: makes what it needs for that.
  static bool prepare();

  /// A region that is done by a whole team: calls `parallel(function, data)`, with a function that notices where a thread
  /// ends it in another mode for floating-point numbers than the master began it.
  template <class Parallel>
  static void run_whole(Function* function, void* data, const Parallel& parallel) {
    if (!is_prepared_) return parallel(function, data);
    Whole whole{function, data, FloatingPointMode::here()};
    parallel(Whole::run, &whole);
  }

  /// Does a region. Returns whether it stayed folded: false, if the team had to be started. Requires prepare(), but for one
  /// thread, and for that, too, that nothing else asks libgomp of the team (VisibleThreads).
  static bool run(Function* function, void* data, unsigned threads);

  /// The folded team that this thread is in; nullptr: none.
  static FoldedTeam* here() { return here_; }
  /// Before anything that a folded team does not answer: the team is started, if there is one here that is not.
  static void start_here() {
    if (here_ != nullptr) [[unlikely]]
      here_->want_team();
  }

  /// While it lives this thread is in no folded team: what this library does itself is none of the team's doing.
  class Aside {
   public:
    Aside() : team_(here_) { here_ = nullptr; }
    ~Aside() { here_ = team_; }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    FoldedTeam* const team_;
  };

  [[nodiscard]] unsigned threads() const { return threads_; }
  /// Of the thread of the team that is running.
  [[nodiscard]] unsigned number() const { return current_; }
  /// By a handler that has interrupted the team in the program's own code: a thread of it waits for others.
  void start_from_handler();
  /// All threads of the team come here before any goes on.
  void barrier();

 private:
  enum class State : std::uint8_t { fresh, suspended, finished };
  /// The exceptions that a thread has caught and not done with, as the C++ ABI has them for each.
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };
  /// A thread of the team but the master.
  struct Member {
    FoldedTeam* team;
    void* stack_pointer;     ///< of the coroutine, while it is suspended
    void* back;              ///< of whom it goes back to
    std::uint64_t arrivals;  ///< at barriers
    FloatingPointMode mode;  ///< where it left off
    State state;
    Exceptions exceptions;
  };
  struct Whole {
    Function* function;
    void* data;
    FloatingPointMode mode;
    static void run(void* whole);
  };
  class OfThread;
  friend struct Coroutine;

  FoldedTeam(Function* function, void* data, unsigned threads);

  [[gnu::noinline]] void want_team();
  void watch();
  void unwatch();
  void start_team();
  void finish_members();
  bool resume(unsigned number);
  void go_back(Member& member);
  static void take_over(void* team);
  static Exceptions& exceptions();
  static OfThread& of_thread();

  Function* function_;
  void* data_;
  unsigned threads_;
  unsigned current_ = 0;
  bool wanted_ = false;  ///< by a member: its master is to start the team
  bool started_ = false;
  FloatingPointMode mode_;      ///< in the beginning
  std::uint64_t arrivals_ = 0;  ///< of the master, at barriers
  std::uint64_t released_ = 0;  ///< barriers to which all have come
  void* master_ = nullptr;      ///< its stack pointer, while a member runs
  OfThread& own_;
  std::vector<Member>& members_;

  static inline constinit thread_local FoldedTeam* here_ = nullptr;
  static inline constinit thread_local bool is_prepared_ = false;
};

}  // namespace refrain::gomp
