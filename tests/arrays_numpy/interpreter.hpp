#pragma once
// Executes a program with refrain::arrays and collects what it sees.

#include <cstddef>
#include <string>
#include <vector>

#include "program.hpp"
#include "refrain/arrays.hpp"

namespace refrain::test::numpy {

/// The values of a name.
struct Observation {
  arrays::DType dtype = arrays::DType::float64;
  arrays::Shape shape;
  std::vector<std::byte> bytes;
};

struct Outcome {
  std::vector<Observation> observed;  ///< one for each `check` of the program
  std::string complaint;  ///< an error that should not be, or a lacking one; ends the program
};

Outcome execute(const Program& program, arrays::Session& session);

}  // namespace refrain::test::numpy
