#include "report/termination.hpp"

#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace refrain::runtime {

namespace {

constexpr std::array<int, 2> kSignals{SIGTERM, SIGINT};

/// What the handler looks at. Set before it is installed.
struct Shared {
  pid_t process = 0;
  int wake[2] = {-1, -1};  ///< a pipe; a handler may be late, so it stays open
  static constexpr int nobody = -1;
  /// The first that came; 0: none yet; nobody: no watcher waits for one.
  std::atomic<int> signal{nobody};
  // An interruption, asked for by the watcher. release: `f` and `argument` are there; partner: the handler.
  enum Interruption : int { none, asked, expired };
  std::atomic<int> interruption{none};
  pthread_t thread{};
  void (*f)(void*) = nullptr;
  void* argument = nullptr;
  sem_t answered{};
};
Shared shared;

/// By the signal, as if it had no handler: in a handler, when that returns.
void end_by(int signal) {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal);
}

/// The same outside a handler.
void end_now_by(int signal) {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  end_by(signal);
}

void handle(int signal) {
  const int before = errno;
  const bool is_here = getpid() == shared.process;
  int none = 0;
  if (is_here && shared.signal.compare_exchange_strong(none, signal)) {
    const char byte = 1;
    if (write(shared.wake[1], &byte, 1) != 1) end_by(signal);
  } else if (is_here && shared.interruption.load(std::memory_order_acquire) != Shared::none &&
             pthread_equal(pthread_self(), shared.thread) != 0) {
    if (shared.interruption.exchange(Shared::none) == Shared::asked) {
      shared.f(shared.argument);
      sem_post(&shared.answered);
    }
  } else {
    end_by(signal);
  }
  errno = before;
}

bool is_handled_here(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
         now.sa_handler == handle;
}

/// The thread that waits, and for whom. A signal of its own keeps it from being called while it is being stopped.
class Watcher {
 public:
  std::mutex mutex;
  std::list<std::function<void()>> acts;  ///< under the mutex

  void start() {
    if (!has_pipe()) return tell_of(std::strerror(errno));
    shared.signal.store(0);
    sem_init(&shared.answered, 0, 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { wait(); });
    } catch (const std::exception& error) { tell_of(error.what()); }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!thread_.joinable()) return;
    for (const int signal : kSignals) {
      struct sigaction found {};
      if (sigaction(signal, nullptr, &found) != 0 || found.sa_handler != SIG_DFL) continue;
      struct sigaction ours {};
      ours.sa_handler = handle;
      ours.sa_flags = SA_RESTART;
      sigfillset(&ours.sa_mask);
      sigaction(signal, &ours, nullptr);
    }
  }

  void stop() {
    if (!thread_.joinable()) return;
    for (const int signal : kSignals)
      if (is_handled_here(signal)) std::signal(signal, SIG_DFL);
    const char byte = 0;
    while (write(shared.wake[1], &byte, 1) != 1 && errno == EINTR) {}
    thread_.join();
    // A handler that comes later ends the process itself. One that came before the watcher was told to stop, and
    // has not woken it, is in time.
    int signal = 0;
    if (!shared.signal.compare_exchange_strong(signal, Shared::nobody)) end_now_by(signal);
    sem_destroy(&shared.answered);
  }

 private:
  void wait() {
    char byte = 0;
    while (read(shared.wake[0], &byte, 1) != 1)
      if (errno != EINTR) return;
    if (byte == 0) return;
    const std::lock_guard lock(mutex);
    for (const auto& act : acts) act();
    end_now_by(shared.signal.load());
  }

  /// Made once in a process. A child process has those of its parent, which it must not wake.
  static bool has_pipe() {
    if (shared.process == getpid()) return true;
    for (int& end : shared.wake)
      if (end >= 0) close(std::exchange(end, -1));
    if (pipe2(shared.wake, O_CLOEXEC) != 0) return false;
    shared.process = getpid();
    return true;
  }
  static void tell_of(const char* why) {
    static std::once_flag told;
    std::call_once(told, [why] {
      std::fprintf(stderr,
                   "refrain: SIGTERM and SIGINT will end the process without its reports: %s\n",
                   why);
    });
  }

  std::thread thread_;
};

Watcher& watcher() {
  static auto* const one = new Watcher;  // runtimes may end later than what is static
  return *one;
}

std::mutex& starting() {
  static std::mutex one;
  return one;
}

}  // namespace

BeforeTermination::BeforeTermination(std::function<void()> act) {
  const std::lock_guard first(starting());
  Watcher& one = watcher();
  bool is_first = false;
  {
    const std::lock_guard lock(one.mutex);
    is_first = one.acts.empty();
    place_ = one.acts.insert(one.acts.end(), std::move(act));
  }
  if (is_first) one.start();
}

BeforeTermination::~BeforeTermination() {
  const std::lock_guard first(starting());
  Watcher& one = watcher();
  {
    const std::lock_guard lock(one.mutex);
    one.acts.erase(place_);
    if (!one.acts.empty()) return;
  }
  one.stop();
}

bool BeforeTermination::interrupt(pthread_t thread, void (*f)(void*), void* argument) {
  shared.thread = thread;
  shared.f = f;
  shared.argument = argument;
  shared.interruption.store(Shared::asked, std::memory_order_release);
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  if (pthread_kill(thread, shared.signal.load()) == 0) {
    int waited = 0;
    while ((waited = sem_timedwait(&shared.answered, &until)) != 0 && errno == EINTR) {}
    if (waited == 0) return true;
  }
  // Who comes too late does nothing, unless it has begun.
  int expected = Shared::asked;
  if (shared.interruption.compare_exchange_strong(expected, Shared::expired)) return false;
  while (sem_wait(&shared.answered) != 0 && errno == EINTR) {}
  return true;
}

}  // namespace refrain::runtime
