#include "gomp/watchdog.hpp"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <vector>

#include "gomp/behind.hpp"
#include "gomp/folded_team.hpp"
#include "gomp/visible_threads.hpp"

namespace refrain::gomp {

std::atomic<bool> WatchedThread::asleep_{true};

namespace {

constexpr int signal_number = SIGURG;
constexpr long period_ns = 50'000'000;
constexpr int idle_periods = 20;  // until it sleeps
constexpr int nap_s = 1;

// The mutex has all of these. They are never destroyed: threads may be there until the very end.
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
std::vector<WatchedThread*>* watched = nullptr;
bool is_running = false;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

/// Where errno is is looked up here, as another thread may return from a handler than the one that came in.
[[gnu::noinline]] void set_errno(int error) { errno = error; }

void interrupted(int, siginfo_t*, void* context) {
#if defined(__x86_64__)
  const int error = errno;
  const auto* const at = static_cast<const ucontext_t*>(context);
  FoldedTeam* const team = FoldedTeam::here();
  const auto address = static_cast<std::uintptr_t>(at->uc_mcontext.gregs[REG_RIP]);
  if (team != nullptr && VisibleThreads::is_of_program(address)) team->start_from_handler();
  set_errno(error);
#else
  static_cast<void>(context);
#endif
}

/// Whether the signal is the program's to ignore, and comes to this thread.
bool install_handler() {
  sigset_t blocked;
  if (pthread_sigmask(SIG_SETMASK, nullptr, &blocked) != 0 || sigismember(&blocked, signal_number))
    return false;
  struct sigaction action {};
  if (sigaction(signal_number, nullptr, &action) != 0) return false;
  if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) return false;
  action = {};
  action.sa_sigaction = interrupted;
  // A coroutine may go on in another thread before the handler returns.
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
  return sigaction(signal_number, &action, nullptr) == 0;
}

void before_fork() { pthread_mutex_lock(&mutex); }
void after_fork() { pthread_mutex_unlock(&mutex); }

}  // namespace

struct Watchdog {
  static void* run(void*) {
    int idle = 0;
    while (true) {
      timespec period{0, period_ns};
      nanosleep(&period, nullptr);
      const Lock lock;
      idle = look() ? 0 : idle + 1;
      if (idle < idle_periods) continue;
      WatchedThread::asleep_.store(true, std::memory_order_relaxed);
      // A thread that has just begun may have found the watchdog awake, and then wakes nobody: a look now and then.
      timespec until{};
      clock_gettime(CLOCK_REALTIME, &until);
      until.tv_sec += nap_s;
      if (pthread_cond_timedwait(&wanted, &mutex, &until) == 0) idle = 0;
    }
    return nullptr;
  }

  /// Whether there was something to see.
  static bool look() {
    bool any = false;
    for (WatchedThread* const thread : *watched) {
      const std::uint32_t changes = thread->changes_.load(std::memory_order_relaxed);
      const bool is_in = changes % 2 != 0;
      if (is_in && changes == thread->seen_) pthread_kill(thread->self_, signal_number);
      any |= is_in || changes != thread->seen_;
      thread->seen_ = changes;
    }
    return any;
  }

  /// Under the mutex.
  static void start() {
    if (is_running) {
      WatchedThread::asleep_.store(false, std::memory_order_relaxed);
      pthread_cond_signal(&wanted);
      return;
    }
    // It handles no signals of the program.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    is_running = pthread_create(&thread, nullptr, run, nullptr) == 0;
    if (is_running) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    WatchedThread::asleep_.store(!is_running, std::memory_order_relaxed);
  }

  /// The child has this thread only.
  static void forked() {
    is_running = false;
    WatchedThread::asleep_.store(true, std::memory_order_relaxed);
    if (watched != nullptr)
      std::erase_if(*watched, [](const WatchedThread* thread) {
        return !pthread_equal(thread->self_, pthread_self());
      });
    pthread_mutex_unlock(&mutex);
  }
};

namespace {
// Before there can be a fork() that would find the mutex taken by a thread which the child does not have.
[[maybe_unused]] const int handlers = pthread_atfork(before_fork, after_fork, Watchdog::forked);
}  // namespace

bool WatchedThread::is_possible() {
  static const bool possible = install_handler();
  return possible;
}

WatchedThread::WatchedThread() {
  const Lock lock;
  if (watched == nullptr) watched = new std::vector<WatchedThread*>;
  watched->push_back(this);
  Watchdog::start();
}

WatchedThread::~WatchedThread() {
  const Lock lock;
  std::erase(*watched, this);
}

void WatchedThread::wake() {
  const Lock lock;
  Watchdog::start();
}

}  // namespace refrain::gomp
