#include "gomp/kept_threads.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "support/next.hpp"

namespace refrain::gomp {
namespace {

using Routine = void*(void*);

// Not BEHIND(): the types in pthread.h have attributes that a template's argument cannot have.
using Create = int (*)(pthread_t*, const pthread_attr_t*, Routine*, void*);
constinit preload::Next<Create> next_create{"pthread_create"};
constinit preload::Next<int (*)(pthread_t)> next_detach{"pthread_detach"};

/// What a thread is made with and keeps.
struct Attributes {
  std::size_t stack = 0;
  std::size_t guard = 0;
  cpu_set_t processors;

  /// False: a thread with these should not be kept.
  bool read(const pthread_attr_t* from) {
    int detached = PTHREAD_CREATE_DETACHED;
    return from && pthread_attr_getdetachstate(from, &detached) == 0 &&
           detached == PTHREAD_CREATE_JOINABLE && pthread_attr_getstacksize(from, &stack) == 0 &&
           pthread_attr_getguardsize(from, &guard) == 0 &&
           pthread_attr_getaffinity_np(from, sizeof processors, &processors) == 0;
  }
  bool operator==(const Attributes& other) const {
    return stack == other.stack && guard == other.guard &&
           CPU_EQUAL(&processors, &other.processors);
  }
};

struct Owner;

/// A thread that is kept. The one who takes it out of the parked ones, under the mutex, writes its routine and argument
/// and then, releasing, `given`; the thread acquires that. All else is the thread's own.
struct Kept {
  pthread_t self{};
  Owner* owner = nullptr;  ///< who had it made, while that thread lives; under the mutex
  unsigned number = 0;     ///< in the order in which they were made
  Attributes attributes;
  Routine* routine = nullptr;  ///< null: the thread is to end
  void* argument = nullptr;
  std::atomic<bool> given{false};
  bool detached = false;  ///< as far as libgomp knows, since the routine began
};

/// Beyond that threads end: a program with many pools would keep more than it ever uses at once.
constexpr std::size_t most_parked = 256;

std::atomic<bool> keeping{false};
std::mutex mutex;
std::vector<Kept*>*
    parked;  // by number, descending; under the mutex. Never destroyed: threads outlive main().
unsigned made = 0;  // under the mutex

/// What this thread is, while it runs libgomp's routine.
thread_local Kept* current = nullptr;

/// A thread for which libgomp makes others. They are parked for it alone, so that nobody else finds its values in what
/// is thread-local, and not beyond its end.
struct Owner {
  ~Owner();
  std::vector<Kept*> threads;  ///< under the mutex
};
/// Destroyed by its key: also when main() leaves by pthread_exit(), and not when the process exits, which does not wait
/// for its threads.
thread_local Owner* owner = nullptr;
const pthread_key_t owner_key = [] {
  pthread_key_t key{};
  const auto destroy = [](void* of_thread) {
    owner = nullptr;
    delete static_cast<Owner*>(of_thread);
  };
  if (pthread_key_create(&key, destroy) != 0) std::abort();
  return key;
}();

Owner& this_owner() {
  if (owner == nullptr) {
    owner = new Owner;
    pthread_setspecific(owner_key, owner);
  }
  return *owner;
}

Owner::~Owner() {
  std::vector<pthread_t> ended;
  {
    const std::scoped_lock lock(mutex);
    for (Kept* const kept : threads) {
      kept->owner = nullptr;
      if (std::erase(*parked, kept) == 0) continue;
      ended.push_back(kept->self);
      kept->routine = nullptr;
      kept->detached = false;  // it is joined
      kept->given.store(true, std::memory_order_release);
      kept->given.notify_one();
    }
  }
  for (const pthread_t thread : ended) pthread_join(thread, nullptr);
}

/// Ends the thread's being kept, also when pthread_exit() unwinds it.
struct End {
  explicit End(Kept& thread) : kept(&thread) {}
  ~End() {
    current = nullptr;
    if (kept->detached) next_detach(pthread_self());
    const std::scoped_lock lock(mutex);
    if (kept->owner != nullptr) std::erase(kept->owner->threads, kept.get());
  }
  std::unique_ptr<Kept> kept;
};

/// False: it is to end.
bool park(Kept& kept) {
  const std::scoped_lock lock(mutex);
  if (kept.owner == nullptr || parked->size() >= most_parked) return false;
  kept.given.store(false, std::memory_order_relaxed);
  const auto after = [](const Kept* a, const Kept* b) { return a->number > b->number; };
  parked->insert(std::upper_bound(parked->begin(), parked->end(), &kept, after), &kept);
  return true;
}

void* live(void* argument) {
  auto& kept = *static_cast<Kept*>(argument);
  const End end(kept);
  kept.self = pthread_self();
  while (true) {
    current = &kept;
    void* result = kept.routine(kept.argument);
    current = nullptr;
    if (!kept.detached || !park(kept)) return result;
    kept.given.wait(false, std::memory_order_acquire);
    if (kept.routine == nullptr) return nullptr;
    kept.detached = false;
  }
}

/// This thread's parked one with these attributes that was made first; nullptr: there is none.
Kept* take(const Attributes& attributes) {
  const std::scoped_lock lock(mutex);
  const auto place = std::find_if(parked->rbegin(), parked->rend(), [&](const Kept* kept) {
    return kept->owner == owner && kept->attributes == attributes;
  });
  if (place == parked->rend()) return nullptr;
  Kept* kept = *place;
  parked->erase(std::next(place).base());
  return kept;
}

int create(pthread_t* thread, const pthread_attr_t* attr, Routine* routine, void* argument) {
  Attributes attributes;
  if (!attributes.read(attr)) return next_create(thread, attr, routine, argument);
  if (Kept* kept = take(attributes)) {
    kept->routine = routine;
    kept->argument = argument;
    *thread = kept->self;
    kept->given.store(true, std::memory_order_release);
    kept->given.notify_one();
    return 0;
  }
  auto kept = std::make_unique<Kept>();
  kept->attributes = attributes;
  kept->routine = routine;
  kept->argument = argument;
  {
    const std::scoped_lock lock(mutex);
    kept->number = made++;
    kept->owner = &this_owner();
    owner->threads.push_back(kept.get());
  }
  const int error = next_create(thread, attr, live, kept.get());
  if (error == 0) {
    static_cast<void>(kept.release());
  } else {
    const std::scoped_lock lock(mutex);
    std::erase(owner->threads, kept.get());
  }
  return error;
}

/// Whether it is libgomp that creates a thread.
bool is_of_libgomp(Routine* routine) {
  static std::atomic<Routine*> known{nullptr};  // libgomp has one
  if (known.load(std::memory_order_relaxed) == routine) return true;
  Dl_info place{};
  if (!dladdr(reinterpret_cast<void*>(routine), &place) || !place.dli_fname) return false;
  const char* slash = std::strrchr(place.dli_fname, '/');
  if (std::strncmp(slash ? slash + 1 : place.dli_fname, "libgomp", 7) != 0) return false;
  known.store(routine, std::memory_order_relaxed);
  return true;
}

void before_fork() { mutex.lock(); }
void after_fork() { mutex.unlock(); }
void after_fork_in_child() {
  if (parked != nullptr) parked->clear();
  if (owner != nullptr) {
    for (Kept* const kept : owner->threads) kept->owner = nullptr;
    owner->threads.clear();
  }
  mutex.unlock();
}

// Before there can be a fork() that would find the mutex taken by a thread which the child does not have.
const int handlers = pthread_atfork(before_fork, after_fork, after_fork_in_child);

}  // namespace

void keep_threads(bool keep) {
  {
    const std::scoped_lock lock(mutex);
    if (parked == nullptr) {
      parked = new std::vector<Kept*>;
      parked->reserve(most_parked);
    }
  }
  // Releases what was made here to who sees it in pthread_create().
  keeping.store(keep && handlers == 0, std::memory_order_release);
}

}  // namespace refrain::gomp

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attr,
                                                                     void* (*routine)(void*),
                                                                     void* argument) {
  namespace gomp = refrain::gomp;
  if (!gomp::keeping.load(std::memory_order_acquire) || !gomp::is_of_libgomp(routine)) {
    return gomp::next_create(thread, attr, routine, argument);
  }
  return gomp::create(thread, attr, routine, argument);
}

extern "C" __attribute__((visibility("default"))) int pthread_detach(pthread_t thread) {
  refrain::gomp::Kept* const kept = refrain::gomp::current;
  if (!kept || !pthread_equal(thread, pthread_self())) return refrain::gomp::next_detach(thread);
  kept->detached = true;
  return 0;
}
