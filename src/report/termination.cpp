#include "report/termination.hpp"

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <mutex>
#include <thread>

namespace refrain::runtime {

namespace {

/// What the handler looks at. Set before it is installed.
struct Shared {
  pid_t process = 0;
  sem_t wake{};  ///< the watcher, once: by the signal, or because nobody asks any more
  static constexpr int nobody = -1;
  /// The first that came; 0: none yet; nobody: no watcher waits for one. Who sets it to a signal posts `wake`.
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
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void handle(int signal) {
  const int before = errno;
  const bool is_here = getpid() == shared.process;
  int none = 0;
  if (is_here && shared.signal.compare_exchange_strong(none, signal)) {
    sem_post(&shared.wake);
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

/// Both signals, each where its handler is the one or the other.
void replace_handlers(void (*found)(int), void (*wanted)(int)) {
  for (const int signal : {SIGTERM, SIGINT}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != found) continue;
    action.sa_handler = wanted;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

void wait_for(sem_t& semaphore) {
  while (sem_wait(&semaphore) != 0) {}  // a handler came between
}

/// The thread that waits, and for whom.
struct Watcher {
  std::mutex changing;  ///< held while the thread is started or stopped, and before `mutex`
  std::mutex mutex;     ///< held while acts are called
  std::list<std::function<void()>> acts;  ///< changed under both
  std::thread thread;

  // A signal of its own keeps it from being called while it is being stopped.
  void start() {
    shared.process = getpid();
    sem_init(&shared.wake, 0, 0);
    sem_init(&shared.answered, 0, 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread = std::thread([this] { wait(); });
    } catch (const std::exception& error) {
      static std::once_flag told;
      std::call_once(told, [&] {
        std::fprintf(stderr,
                     "refrain: SIGTERM and SIGINT will end the process without its reports: %s\n",
                     error.what());
      });
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!thread.joinable()) return;
    shared.signal.store(0);
    replace_handlers(SIG_DFL, handle);
  }

  // A handler that comes after the thread has looked ends the process itself; one that came before is in time.
  void stop() {
    if (!thread.joinable()) return;
    replace_handlers(handle, SIG_DFL);
    sem_post(&shared.wake);
    thread.join();
    sem_destroy(&shared.wake);
    sem_destroy(&shared.answered);
  }

  void wait() {
    wait_for(shared.wake);
    int signal = 0;
    if (shared.signal.compare_exchange_strong(signal, Shared::nobody)) return;
    const std::lock_guard lock(mutex);
    for (const auto& act : acts) act();
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    end_by(signal);
  }
};

Watcher& watcher() {
  static auto* const one = new Watcher;  // runtimes may end later than what is static
  return *one;
}

}  // namespace

BeforeTermination::BeforeTermination(std::function<void()> act) {
  Watcher& one = watcher();
  const std::lock_guard first(one.changing);
  {
    const std::lock_guard lock(one.mutex);
    place_ = one.acts.insert(one.acts.end(), std::move(act));
  }
  if (one.acts.size() == 1) one.start();
}

BeforeTermination::~BeforeTermination() {
  Watcher& one = watcher();
  const std::lock_guard first(one.changing);
  {
    const std::lock_guard lock(one.mutex);
    one.acts.erase(place_);
  }
  if (one.acts.empty()) one.stop();
}

void BeforeTermination::interrupt(pthread_t thread, void (*f)(void*), void* argument) {
  shared.thread = thread;
  shared.f = f;
  shared.argument = argument;
  shared.interruption.store(Shared::asked, std::memory_order_release);
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  int waited = pthread_kill(thread, shared.signal.load());
  if (waited == 0)
    while ((waited = sem_timedwait(&shared.answered, &until)) != 0 && errno == EINTR) {}
  // Who comes too late does nothing, unless it has begun.
  int expected = Shared::asked;
  if (waited != 0 && !shared.interruption.compare_exchange_strong(expected, Shared::expired))
    wait_for(shared.answered);
}

}  // namespace refrain::runtime
