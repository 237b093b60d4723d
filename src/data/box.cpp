#include "data/box.hpp"

namespace refrain::data {

std::string to_string(const BoxPoint& point, int dim) {
  switch (dim) {
    case 1: return refrain::to_string(refrain::detail::restore_dimension<1>(point));
    case 2: return refrain::to_string(refrain::detail::restore_dimension<2>(point));
    default: return refrain::to_string(point);
  }
}

std::string to_string(const Box& box, int dim) {
  return "[" + to_string(box.lo, dim) + ".." + to_string(box.hi, dim) + "]";
}

}  // namespace refrain::data
