#pragma once
// How large the stacks of libgomp's threads are.

#include <cstddef>
#include <string_view>

namespace refrain::gomp {

/// In bytes, as OMP_STACKSIZE, GOMP_STACKSIZE and the system's default say when the process begins. 0: not known.
std::size_t thread_stack();

/// In bytes, of a text such as "64M": a number of KiB, or of what one of B, K, M, G behind it says, in either case, with
/// blanks before and behind each. 0: it is not of this form, or too large.
std::size_t parse_stack_size(std::string_view text);

}  // namespace refrain::gomp
