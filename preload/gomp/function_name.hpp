#pragma once
// The name of a function or a variable of the program that is the same in its next run, wherever it is loaded then.

#include <string>

namespace refrain::gomp {

/// As the module's symbols say, demangled, e.g. "compute(double*)._omp_fn.0"; without symbols the module and the place
/// in it, "libMagickCore-6.Q16.so.6+0x8f120". Reads the module's file, which stays mapped for this thread: keep the result.
std::string function_name(const void* address);

}  // namespace refrain::gomp
