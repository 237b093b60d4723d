#pragma once
// The check of options that a program has filled in itself: the same as of flags.

#include "refrain/options.hpp"

namespace refrain::runtime {

/// Throws InputError that names the member, the flag, what was expected and what was found.
void check_options(const Options& options);

}  // namespace refrain::runtime
