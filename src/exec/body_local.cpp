#include "exec/body_local.hpp"

namespace refrain::exec {

namespace {
thread_local void* local = nullptr;
}  // namespace

[[gnu::noinline]] void* body_local() noexcept { return local; }

[[gnu::noinline]] void* set_body_local(void* pointer) noexcept {
  void* before = local;
  local = pointer;
  return before;
}

}  // namespace refrain::exec
