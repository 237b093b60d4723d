#include "gomp/folded_team.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "gomp/behind.hpp"
#include "gomp/thread_stack.hpp"
#include "gomp/visible_threads.hpp"
#include "gomp/watchdog.hpp"

extern "C" {
void GOMP_barrier();
void GOMP_parallel_start(void (*function)(void*), void* data, unsigned threads);
void GOMP_parallel_end();
int omp_get_thread_num();
int omp_get_num_threads();
}

namespace refrain::gomp {

#if defined(__x86_64__)

// refrain_gomp_switch(save, to): saves what a callee keeps on this stack, and where that is in *save; goes on where `to`
// says so of another stack. refrain_gomp_begin: where a new stack begins, with the argument for
// refrain_gomp_coroutine in r12, which never returns.
asm(R"(
  .text
  .p2align 4
  .globl refrain_gomp_switch
  .hidden refrain_gomp_switch
  .type refrain_gomp_switch, @function
refrain_gomp_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size refrain_gomp_switch, . - refrain_gomp_switch
  .globl refrain_gomp_begin
  .hidden refrain_gomp_begin
  .type refrain_gomp_begin, @function
refrain_gomp_begin:
  movq %r12, %rdi
  call refrain_gomp_coroutine
  ud2
  .size refrain_gomp_begin, . - refrain_gomp_begin
)");

extern "C" {
[[gnu::visibility("hidden")]] void refrain_gomp_switch(void** save, void* to);
[[gnu::visibility("hidden")]] void refrain_gomp_begin();
[[gnu::visibility("hidden"), gnu::used]] void refrain_gomp_coroutine(void* member);
}

namespace {
constexpr std::uint32_t raised = 0x3f;  // exceptions that have been
}  // namespace

FloatingPointMode FloatingPointMode::here() {
  std::uint16_t control = 0;
  asm volatile("fnstcw %0" : "=m"(control));
  return {_mm_getcsr() & ~raised, control};
}

void FloatingPointMode::set() const {
  const FloatingPointMode now = here();
  if (now.sse != sse) _mm_setcsr((_mm_getcsr() & raised) | sse);
  if (now.x87 != x87) asm volatile("fldcw %0" : : "m"(x87));
}

namespace {

/// What refrain_gomp_switch() finds on a new stack.
struct FirstFrame {
  void* r15 = nullptr;
  void* r14 = nullptr;
  void* r13 = nullptr;
  void* r12;
  void* rbx = nullptr;
  void* rbp = nullptr;
  void (*begin)() = refrain_gomp_begin;
};

}  // namespace

#else

FloatingPointMode FloatingPointMode::here() { return {}; }
void FloatingPointMode::set() const {}

namespace {

void refrain_gomp_switch(void**, void*) { std::abort(); }
struct FirstFrame {
  void* r12;
};

}  // namespace

#endif

void FloatingPointMode::note_change() const {
  if (here() != *this) VisibleThreads::differ();
}

/// A thread's coroutines, kept from one folded team to the next. Each stack is as large as that of a thread, with a page
/// below that may not be touched.
class FoldedTeam::OfThread {
 public:
  OfThread() = default;
  ~OfThread() {
    for (std::byte* const stack : stacks_) munmap(stack, size_ + guard_);
  }
  OfThread(const OfThread&) = delete;
  OfThread& operator=(const OfThread&) = delete;

  /// The upper end of one: member 1 has the first. nullptr: there is no memory.
  std::byte* top(unsigned number) {
    while (stacks_.size() < number) {
      void* const stack = mmap(nullptr, size_ + guard_, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
      if (stack == MAP_FAILED) return nullptr;
      mprotect(stack, guard_, PROT_NONE);
      stacks_.push_back(static_cast<std::byte*>(stack));
    }
    return stacks_[number - 1] + guard_ + size_;
  }

  std::vector<Member> members;
  WatchedThread watched;
  const FloatingPointMode mode = FloatingPointMode::here();  ///< when the first team was begun

 private:
  const std::size_t size_ = thread_stack();
  const std::size_t guard_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<std::byte*> stacks_;
};

#if defined(__x86_64__)
bool FoldedTeam::prepare() {
  if (!WatchedThread::is_possible() || thread_stack() == 0) return false;
  // The threads of a whole team have kept the mode with which they were made.
  if (FloatingPointMode::here() != of_thread().mode) VisibleThreads::differ();
  is_prepared_ = true;
  return !VisibleThreads::do_differ();
}
#else
bool FoldedTeam::prepare() { return false; }
#endif

void FoldedTeam::Whole::run(void* of) {
  const Whole& whole = *static_cast<Whole*>(of);
  whole.function(whole.data);
  whole.mode.note_change();
}

FoldedTeam::Exceptions& FoldedTeam::exceptions() {
  return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
}

/// Found by a key, as destructors of thread-local variables come too early for those of the program.
FoldedTeam::OfThread& FoldedTeam::of_thread() {
  static constinit thread_local OfThread* own = nullptr;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    if (pthread_key_create(&made, [](void* old) { delete static_cast<OfThread*>(old); }) != 0)
      std::abort();
    return made;
  }();
  if (own == nullptr) {
    own = new OfThread;
    pthread_setspecific(key, own);
  }
  return *own;
}

FoldedTeam::FoldedTeam(Function* function, void* data, unsigned threads)
    : function_(function),
      data_(data),
      threads_(threads),
      mode_(FloatingPointMode::here()),
      own_(of_thread()),
      members_(own_.members) {
  if (members_.size() < threads) members_.resize(threads);
  for (unsigned number = 1; number < threads; ++number)
    members_[number] = {this, nullptr, nullptr, 0, mode_, State::fresh, {}};
}

// A thread alone does not wait for the others of its team.

void FoldedTeam::watch() {
  if (threads_ > 1) own_.watched.enter();
}

void FoldedTeam::unwatch() {
  if (threads_ > 1) own_.watched.leave();
}

bool FoldedTeam::run(Function* function, void* data, unsigned threads) {
  FoldedTeam team(function, data, threads);
  team.watch();
  here_ = &team;
  function(data);
  if (!team.started_) team.finish_members();
  if (team.started_) {
    team.mode_.note_change();
    BEHIND(GOMP_parallel_end)();
  } else {
    here_ = nullptr;
    team.unwatch();
  }
  return !team.started_;
}

/// The master is at the end of the region.
void FoldedTeam::finish_members() {
  for (bool left = true; left;) {
    left = false;
    for (unsigned number = 1; number < threads_; ++number) {
      if (!resume(number)) return;
      left |= members_[number].state != State::finished;
    }
    released_ = UINT64_MAX;
  }
}

void FoldedTeam::barrier() {
  if (current_ != 0) {
    Member& member = members_[current_];
    ++member.arrivals;
    go_back(member);
    // Another thread may run it now.
    if (member.team->started_ && member.arrivals > member.team->released_) BEHIND(GOMP_barrier)();
    return;
  }
  ++arrivals_;
  for (unsigned number = 1; number < threads_; ++number) {
    if (resume(number)) continue;
    BEHIND(GOMP_barrier)();
    return;
  }
  released_ = arrivals_;
}

/// A member goes on until it is at its next barrier, or finished. False: the team was started instead, or then.
bool FoldedTeam::resume(unsigned number) {
  if (FloatingPointMode::here() != mode_) {
    // Each thread of the kernel is to have its own: threads will differ from now on in what no folded team shows.
    VisibleThreads::differ();
    start_team();
    return false;
  }
  Member& member = members_[number];
  if (member.state == State::finished) return true;
  if (member.state == State::fresh) {
    std::byte* const top = own_.top(number);
    if (top == nullptr) {
      start_team();
      return false;
    }
    // So that the stack is aligned where the coroutine begins.
    auto* const frame = new (top - 64 - sizeof(FirstFrame)) FirstFrame{.r12 = &member};
    member.stack_pointer = frame;
    member.state = State::suspended;
  }
  current_ = number;
  Exceptions& current = exceptions();
  const Exceptions of_master = std::exchange(current, member.exceptions);
  refrain_gomp_switch(&master_, member.stack_pointer);
  member.exceptions = std::exchange(current, of_master);
  current_ = 0;
  member.mode = FloatingPointMode::here();
  if (member.mode != mode_) {
    mode_.set();
    VisibleThreads::differ();
    wanted_ = true;
  }
  if (!wanted_) return true;
  start_team();
  return false;
}

/// What was thread-local before is another thread's after this.
[[gnu::noinline]] void FoldedTeam::go_back(Member& member) {
  // Whoever resumes it says where it goes back to: its master, or a thread of the team that has been started.
  void* const back = member.back != nullptr ? member.back : member.team->master_;
  refrain_gomp_switch(&member.stack_pointer, back);
}

void FoldedTeam::want_team() {
  if (started_) return;
  if (current_ == 0) return start_team();
  wanted_ = true;
  go_back(members_[current_]);
}

void FoldedTeam::start_from_handler() {
  // A handler begins with the mode that a process begins with, and new threads have that of their maker.
  mode_.set();
  want_team();
}

/// By the master, while all members are suspended.
void FoldedTeam::start_team() {
  started_ = true;
  here_ = nullptr;
  unwatch();
  // New threads have the mode of their maker, which is the master's of before the region.
  const FloatingPointMode changed = FloatingPointMode::here();
  mode_.set();
  BEHIND(GOMP_parallel_start)(take_over, this, threads_);
  changed.set();
}

/// A thread of the team that libgomp has started goes on with what a member did.
void FoldedTeam::take_over(void* of) {
  auto& team = *static_cast<FoldedTeam*>(of);
  // One thread for each: a region is folded only where libgomp gives as many as it is asked for.
  if (static_cast<unsigned>(BEHIND(omp_get_num_threads)()) != team.threads_) std::abort();
  if (const int number = BEHIND(omp_get_thread_num)(); number != 0) {
    Member& member = team.members_[static_cast<unsigned>(number)];
    if (member.mode != team.mode_) member.mode.set();
    if (member.state == State::fresh) {
      team.function_(team.data_);
    } else if (member.state == State::suspended) {
      exceptions() = member.exceptions;
      refrain_gomp_switch(&member.back, member.stack_pointer);
    }
    team.mode_.note_change();
  }
}

/// What runs on a member's stack.
struct Coroutine {
  [[noreturn]] static void run(void* of) {
    auto& member = *static_cast<FoldedTeam::Member*>(of);
    FoldedTeam& team = *member.team;
    team.function_(team.data_);
    member.state = FoldedTeam::State::finished;
    team.go_back(member);
    std::abort();  // nobody resumes it
  }
};

}  // namespace refrain::gomp

extern "C" void refrain_gomp_coroutine(void* member) { refrain::gomp::Coroutine::run(member); }
