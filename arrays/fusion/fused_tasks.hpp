#pragma once
// The tasks that windows become, by their names. They are the process's: all sessions, and all shards of a program,
// have the same ones, in whatever order they come to need them. Any thread.

#include <string>

#include "refrain/dynamic.hpp"

namespace refrain::arrays::detail {

struct WindowText;

/// The task for a window, named by its kinds of operations in the order in which they come first: "multiply+add",
/// "exp+sum". What casts or copies only is called so. Of more than five kinds the first four and the last are named,
/// and between them stands how many others there are, with a hash of all: "multiply+add+divide+exp+3 more (3fa2)+sum".
///
/// Windows with one name share a task, which lives as long as the process. How often each operation comes has no part
/// in the name: it is part of the calls' tokens, and what does the same to more or less of an array looks alike to
/// automatic tracing. The process has some 4,096 of these tasks at most; the windows of a program that makes ever new
/// ones are called "elementwise" and "reduction" from then on. Cost: the name is made here, once per plan.
const DynamicTask& fused_task(const WindowText& text);

}  // namespace refrain::arrays::detail
