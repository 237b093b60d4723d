#if defined(__SANITIZE_ADDRESS__)
#endif
#if defined(__SANITIZE_THREAD__)
#endif

#include "exec/fiber.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/tsan_interface.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <new>
#include <utility>

#include "base/assert.hpp"

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

namespace {
thread_local void* local = nullptr;
}  // namespace

[[gnu::noinline]] void* body_local() noexcept { return local; }

[[gnu::noinline]] void* set_body_local(void* pointer) noexcept {
  void* before = local;
  local = pointer;
  return before;
}

namespace {

/// What the C++ runtime keeps per thread about exceptions in flight (Itanium C++ ABI, 2.2.2).
struct ExceptionState {
  void* caught = nullptr;
  unsigned uncaught = 0;

  static ExceptionState& of_thread() {
    return *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  }
};

}  // namespace

/// One side of a switch: a context, and what else belongs to its stack.
struct Side {
  ucontext_t context{};
  ExceptionState exceptions;
  Stack stack;
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom = nullptr;  ///< of the stack, as the sanitizer knows it
  std::size_t bytes = 0;
  void* fake_stack = nullptr;
#endif
#if defined(__SANITIZE_THREAD__)
  void* tsan = nullptr;
#endif
};

struct FiberHost::Machinery {
  Side side;
};

struct Fiber::Machinery {
  Side side;
  void* mapping = nullptr;
  std::size_t mapping_bytes = 0;
};

namespace {

/// Called first thing after control has come to `to`, from `from`.
void arrive([[maybe_unused]] Side& to, [[maybe_unused]] Side& from) {
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(to.fake_stack, &bottom, &bytes);
  from.bottom = bottom;
  from.bytes = bytes;
#endif
}

void switch_to(Side& from, Side& to) {
  from.exceptions = ExceptionState::of_thread();
  ExceptionState::of_thread() = to.exceptions;
  from.stack = std::exchange(Stack::current(), to.stack);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.bytes);
#endif
#if defined(__SANITIZE_THREAD__)
  from.tsan = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
  swapcontext(&from.context, &to.context);
  arrive(from, to);
}

}  // namespace

Fiber::Fiber(FiberHost& host, std::size_t stack_bytes)
    : host_(host), machinery_(std::make_unique<Machinery>()), stack_bytes_(stack_bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  machinery_->mapping_bytes = stack_bytes + page;
  void* memory = mmap(nullptr, machinery_->mapping_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(memory, page, PROT_NONE) != 0) {  // stacks grow down: the page below the end
    munmap(memory, machinery_->mapping_bytes);
    throw std::bad_alloc();
  }
  machinery_->mapping = memory;
  Side& side = machinery_->side;
  void* const bottom = static_cast<std::byte*>(memory) + page;
  side.stack = {reinterpret_cast<std::uintptr_t>(bottom), stack_bytes};
#if defined(__SANITIZE_ADDRESS__)
  side.bottom = bottom;
  side.bytes = stack_bytes;
#endif
#if defined(__SANITIZE_THREAD__)
  side.tsan = __tsan_create_fiber(0);
#endif
  getcontext(&side.context);
  side.context.uc_stack.ss_sp = bottom;
  side.context.uc_stack.ss_size = stack_bytes;
  side.context.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&side.context, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(machinery_->side.tsan);
#endif
  munmap(machinery_->mapping, machinery_->mapping_bytes);
}

void Fiber::enter(unsigned high, unsigned low) {
  auto* fiber = reinterpret_cast<Fiber*>((static_cast<std::uintptr_t>(high) << 32) | low);
  arrive(fiber->machinery_->side, fiber->host_.machinery_->side);
  fiber->loop();
}

void Fiber::loop() {
  // Never returns: a finished fiber waits here for its next function.
  while (true) {
    function_();
    function_ = nullptr;
    finished_ = true;
    suspend();
  }
}

bool Fiber::resume() {
  switch_to(host_.machinery_->side, machinery_->side);
  if (!finished_) return false;
  host_.idle_.push_back(this);
  return true;
}

void Fiber::suspend() { switch_to(machinery_->side, host_.machinery_->side); }

FiberHost::FiberHost(std::size_t most) : most_(most), machinery_(std::make_unique<Machinery>()) {}

FiberHost::~FiberHost() {
  REFRAIN_ASSERT(idle_.size() == fibers_.size(), "every fiber has run to its end");
}

Fiber& FiberHost::start(std::function<void()> function, std::size_t stack_bytes) {
  Fiber* fiber = nullptr;
  for (std::size_t i = idle_.size(); i-- > 0 && !fiber;) {
    if (idle_[i]->stack_bytes_ != stack_bytes) continue;
    fiber = idle_[i];
    idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (!fiber) {
    if (fibers_.size() >= most_) throw std::bad_alloc();
    fibers_.push_back(std::unique_ptr<Fiber>(new Fiber(*this, stack_bytes)));
    fiber = fibers_.back().get();
  }
  fiber->function_ = std::move(function);
  fiber->finished_ = false;
  return *fiber;
}

}  // namespace refrain::exec
