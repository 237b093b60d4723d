#pragma once
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
#include <functional>
#include <memory>
#include <vector>

#include "base/sure_memory.hpp"

namespace refrain::exec {

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
