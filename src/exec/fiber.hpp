#pragma once
// The stack that a thread runs on, and stacks of one's own: three things that belong to a running body.
//
// Stack: how much is left of it. A thread that waits runs other tasks on its stack, and those may wait in turn. A
// program that nests too deeply ends with an error, not at the end of the stack. Each thread calls it for itself; the
// bounds of a thread's own stack are asked for once.
//
// Body-local pointer: one pointer per program or body. It stays with the body, also when a thread leaves a fiber and
// comes back. The layer above keeps in it how the body waits. A body that sets it sets it back before it ends. The
// functions are never inlined: code around a switch must not keep the address of the variable.
//
// Fiber: runs a function on a stack of its own, can be left in the middle and resumed later. All fibers of a host
// belong to the thread that made the host. `resume` is called on the thread's own stack, `suspend` on the fiber's. The
// function lets no exception out. Exceptions that are being handled stay with the fiber across a switch. The sanitizers
// are told of every switch. Running over the end of a stack hits a page that cannot be touched.
//
// Cost: a switch is a swapcontext (two system calls per resume and suspend, well under a microsecond). Finished fibers
// keep their stacks for the next function. Stacks are address space until touched.

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

  /// Goes on with the fiber until it suspends or its function ends. True: it ended, and the fiber went
  /// back to its host.
  bool resume();
  /// On the fiber's own stack: back to where resume was called.
  void suspend();

 private:
  friend class FiberHost;
  struct Sides;
  Fiber(FiberHost& host, std::size_t stack_bytes);
  static void enter();

  FiberHost& host_;
  std::function<void()> function_;  ///< none: it has ended
  std::unique_ptr<Sides> sides_;
};

class FiberHost {
 public:
  static constexpr std::size_t kStack = 1 << 20;

  explicit FiberHost(std::size_t most) : most_(most) {}
  ~FiberHost();  ///< no fiber may be suspended in the middle
  /// A fiber that will run `function` when resumed. Throws std::bad_alloc when there are `most` already, or
  /// a stack cannot be mapped.
  Fiber& start(std::function<void()> function, std::size_t stack_bytes = kStack);

 private:
  friend class Fiber;
  const std::size_t most_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*, SureAllocator<Fiber*>> idle_;
};

}  // namespace refrain::exec
