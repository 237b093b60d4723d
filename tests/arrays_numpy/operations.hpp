#pragma once
// The functions of arrays by the names that programs have for them (mostly NumPy's).

#include <string_view>
#include <vector>

#include "call.hpp"

namespace refrain::test::numpy {

/// Executes a statement that makes arrays or changes them. Throws what the library throws.
std::vector<arrays::Array> execute(std::string_view name, Call& call);

}  // namespace refrain::test::numpy
