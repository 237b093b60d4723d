#pragma once
// The tasks that windows become, by their names. They are the process's: all sessions, and all shards of a program,
// have the same ones, in whatever order they come to need them. Any thread.

#include <string>

#include "refrain/dynamic.hpp"

namespace refrain::arrays::detail {

struct WindowText;

/// The task for a window, named by its first operations ("multiply add", "exp sum"), of which there are a few hundred
/// in practice; windows with the same ones share it. It lives as long as the process.
const DynamicTask& fused_task(const WindowText& text);

}  // namespace refrain::arrays::detail
