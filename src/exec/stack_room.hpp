#pragma once
// How much is left of the stack that this thread runs on: its own, or a fiber's.
//
// A thread that waits runs other tasks on its stack meanwhile, and those may wait in turn; a program nested
// too deeply is to end with an error and not at the end of the stack.
//
// Each thread for itself. Cost: the bounds of a thread's own stack are asked for once.

#include <cstddef>
#include <cstdint>

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

}  // namespace refrain::exec
