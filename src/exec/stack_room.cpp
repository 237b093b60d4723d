#include "exec/stack_room.hpp"

#include <pthread.h>

#include <limits>

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

}  // namespace refrain::exec
