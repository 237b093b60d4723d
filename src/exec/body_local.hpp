#pragma once
// A pointer that belongs to whatever program or body runs on this thread: it stays with the body when
// the seeded executor switches to another one and comes back. The layer above keeps in it how the body
// waits. A body that sets it sets it back before it ends.
//
// Never inlined: code around a switch must not keep the address of the variable behind it.

namespace refrain::exec {

[[nodiscard]] void* body_local() noexcept;
/// Sets it; returns the one before.
void* set_body_local(void* pointer) noexcept;

}  // namespace refrain::exec
