#include "exec/fiber.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <utility>

#include "base/assert.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <dlfcn.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace refrain::exec {

namespace {

Stack of_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* bottom = nullptr;
  std::size_t bytes = 0, guard = 0;
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  return {reinterpret_cast<std::uintptr_t>(bottom) + guard, bytes - guard};
}

thread_local void* local = nullptr;
thread_local Fiber* entered = nullptr;  ///< the one that begins

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

/// What the C++ runtime keeps per thread about exceptions in flight (Itanium C++ ABI, 2.2.2).
struct ExceptionState {
  void* caught = nullptr;
  unsigned uncaught = 0;

  static ExceptionState& of_thread() {
    return *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  }
};

/// One side of a switch: a context, and what else belongs to its stack.
struct Side {
  ucontext_t context{};
  ExceptionState exceptions;
  Stack stack;
  void* body_local = nullptr;
  void* sanitizer = nullptr;  ///< AddressSanitizer's or ThreadSanitizer's
};

/// Called first thing after control has come to `side`.
void arrive([[maybe_unused]] Side& side) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(side.sanitizer, nullptr, nullptr);
#endif
}

void switch_to(Side& from, Side& to) {
  from.exceptions = std::exchange(ExceptionState::of_thread(), to.exceptions);
  from.stack = std::exchange(Stack::current(), to.stack);
  from.body_local = std::exchange(local, to.body_local);
#if defined(__SANITIZE_ADDRESS__)
  // The one of libc. AddressSanitizer's clears its shadow of the whole stack that it enters, twice, which takes longer than
  // the rest of the switch and is for programs that do not tell it of their switches.
  static const auto swapcontext = reinterpret_cast<decltype(&::swapcontext)>(
      dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "swapcontext"));
  __sanitizer_start_switch_fiber(&from.sanitizer, reinterpret_cast<void*>(to.stack.bottom),
                                 to.stack.bytes);
#elif defined(__SANITIZE_THREAD__)
  from.sanitizer = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.sanitizer, 0);
#endif
  swapcontext(&from.context, &to.context);
  arrive(from);
}

}  // namespace

Stack& Stack::current() {
  thread_local Stack stack = of_thread();
  return stack;
}

std::size_t Stack::left() const {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here - bottom >= bytes) return std::numeric_limits<std::size_t>::max();
  return here - bottom;
}

[[gnu::noinline]] void* body_local() noexcept { return local; }

[[gnu::noinline]] void* set_body_local(void* pointer) noexcept {
  return std::exchange(local, pointer);
}

struct Fiber::Sides {
  Side inside, outside;
};

Fiber::Fiber(FiberHost& host, std::size_t stack_bytes)
    : host_(host), sides_(std::make_unique<Sides>()) {
  const std::size_t page = page_bytes();
  void* const memory = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(memory, page, PROT_NONE) != 0) {  // stacks grow down: the page below the end
    munmap(memory, page + stack_bytes);
    throw std::bad_alloc();
  }
  Side& side = sides_->inside;
  void* const bottom = static_cast<std::byte*>(memory) + page;
  side.stack = {reinterpret_cast<std::uintptr_t>(bottom), stack_bytes};
#if defined(__SANITIZE_THREAD__)
  side.sanitizer = __tsan_create_fiber(0);
#endif
  getcontext(&side.context);
  side.context.uc_stack.ss_sp = bottom;
  side.context.uc_stack.ss_size = stack_bytes;
  side.context.uc_link = nullptr;
  makecontext(&side.context, &Fiber::enter, 0);
}

Fiber::~Fiber() {
  const Stack& stack = sides_->inside.stack;
#if defined(__SANITIZE_ADDRESS__)
  // The frames that wait for the next function never end, and another stack may come to lie here.
  __asan_unpoison_memory_region(reinterpret_cast<void*>(stack.bottom), stack.bytes);
#elif defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(sides_->inside.sanitizer);
#endif
  munmap(reinterpret_cast<void*>(stack.bottom - page_bytes()), stack.bytes + page_bytes());
}

/// Never returns: a fiber whose function has ended waits here for its next one.
void Fiber::enter() {
  Fiber& fiber = *entered;
  arrive(fiber.sides_->inside);
  while (true) {
    fiber.function_();
    fiber.function_ = nullptr;
    fiber.suspend();
  }
}

bool Fiber::resume() {
  entered = this;
  switch_to(sides_->outside, sides_->inside);
  if (function_) return false;
  host_.idle_.push_back(this);
  return true;
}

void Fiber::suspend() { switch_to(sides_->inside, sides_->outside); }

FiberHost::~FiberHost() {
  REFRAIN_ASSERT(idle_.size() == fibers_.size(), "every fiber has run to its end");
}

Fiber& FiberHost::start(std::function<void()> function, std::size_t stack_bytes) {
  const auto fits = [&](const Fiber* fiber) {
    return fiber->sides_->inside.stack.bytes == stack_bytes;
  };
  const auto newest = std::find_if(idle_.rbegin(), idle_.rend(), fits);
  Fiber* fiber = nullptr;
  if (newest != idle_.rend()) {
    fiber = *newest;
    idle_.erase(std::prev(newest.base()));
  } else {
    if (fibers_.size() >= most_) throw std::bad_alloc();
    fibers_.push_back(std::unique_ptr<Fiber>(new Fiber(*this, stack_bytes)));
    fiber = fibers_.back().get();
  }
  fiber->function_ = std::move(function);
  return *fiber;
}

}  // namespace refrain::exec
