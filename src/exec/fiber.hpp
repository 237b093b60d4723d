#pragma once
// How much is left of the stack that this thread runs on: its own, or a fiber's.
//
// A thread that waits runs other tasks on its stack meanwhile, and those may wait in turn; a program nested
// too deeply is to end with an error and not at the end of the stack.
//
// Each thread for itself. Cost: the bounds of a thread's own stack are asked for once.
//
// A pointer that belongs to whatever program or body runs on this thread: it stays with the body when
// the seeded executor switches to another one and comes back. The layer above keeps in it how the body
// waits. A body that sets it sets it back before it ends.
//
// Never inlined: code around a switch must not keep the address of the variable behind it.
//
// Stacks to run on: a fiber runs a function on a stack of its own and can be left in the middle and
// resumed later. All fibers of a host belong to one thread; control goes from the thread's own stack to
// a fiber (resume) and back (suspend, or the end of the function).
//
// Requires: resume is called on the host's stack, suspend on the fiber's, both on the thread that made
// the host. The function must not let an exception out. Guarantees: the exceptions that are being
// handled are the fiber's own across a switch; AddressSanitizer and ThreadSanitizer are told of every
// switch; running over the end of a stack hits a page that cannot be touched.
//
// Cost: a switch is a swapcontext (two system calls per resume and suspend, well under a microsecond).
// Finished fibers keep their stacks for the next function. Stacks are address space until touched.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/sure_memory.hpp"

namespace refrain::exec {

struct Stack {
  std::uintptr_t bottom = 0;  ///< the lowest address
  std::size_t bytes = 0;      ///< 0: not known

  /// The one that this thread runs on.
  static Stack& current();
  /// Below the caller's frame. As good as endless where the bounds are not known, or not those of the stack
  /// that the thread runs on (the program has stacks of its own).
  [[nodiscard]] std::size_t left() const;
  /// Too little for a task that waits for others on this stack: a body's frame must fit, and what ends it all.
  [[nodiscard]] bool nearly_full() const {
    constexpr std::size_t most = std::size_t{256} << 10;
    return left() < (bytes / 4 < most ? bytes / 4 : most);
  }
};

[[nodiscard]] void* body_local() noexcept;
/// Sets it; returns the one before.
void* set_body_local(void* pointer) noexcept;

class FiberHost;

class Fiber {
 public:
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Goes on with the fiber until it suspends or its function ends. True: it ended, and the fiber went
  /// back to its host.
  bool resume();
  /// On the fiber's own stack: back to where resume was called.
  void suspend();

 private:
  friend class FiberHost;
  struct Machinery;
  Fiber(FiberHost& host, std::size_t stack_bytes);
  static void enter(unsigned high, unsigned low);
  void loop();

  FiberHost& host_;
  std::function<void()> function_;
  std::unique_ptr<Machinery> machinery_;
  std::size_t stack_bytes_;
  bool finished_ = false;
};

class FiberHost {
 public:
  static constexpr std::size_t kStack = 1 << 20;

  explicit FiberHost(std::size_t most);
  ~FiberHost();  ///< no fiber may be suspended in the middle
  /// A fiber that will run `function` when resumed. Throws std::bad_alloc when there are `most` already, or
  /// a stack cannot be mapped.
  Fiber& start(std::function<void()> function, std::size_t stack_bytes = kStack);

 private:
  friend class Fiber;
  struct Machinery;
  const std::size_t most_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*, SureAllocator<Fiber*>> idle_;
  std::unique_ptr<Machinery> machinery_;
};

}  // namespace refrain::exec
