#include "refrain/arrays/shape.hpp"

#include "refrain/arrays/error.hpp"

namespace refrain::arrays {

void Shape::fail_dimensions(const std::source_location& where) {
  throw ValueError(where, "arrays have at most 3 dimensions");
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (int d = 0; d < shape.dims(); ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(shape[d]);
  }
  return text + (shape.dims() == 1 ? ",)" : ")");
}

}  // namespace refrain::arrays
