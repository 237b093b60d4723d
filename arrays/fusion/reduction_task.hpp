#pragma once
// The tasks of a reduction: one that runs a window's program on its share of the elements and reduces what comes, and
// one that reduces the results of chunks to one. (kernels/reduce.hpp says in which order terms are taken together.)

#include <string>
#include <string_view>

#include "fusion/plan.hpp"
#include "refrain/dynamic.hpp"

namespace refrain::arrays::detail {

/// Its arguments: the slots of the program, then the results; of argmin and argmax by chunks values, then positions.
DynamicTask make_reduction_task(const std::string& name);

/// By-value arguments of the second launch.
struct CombineCall {
  kernels::Reduce op;
  DType type;
  Coord outputs, chunks;
  bool columns;
};
/// Arguments: the outputs, the chunks' results; of argmin and argmax also their positions.
const DynamicTask& combine_task();

/// "sum", "argmin": for the names of tasks.
std::string_view name_of(kernels::Reduce op);

/// Argmin and argmax leave positions.
constexpr bool is_arg(kernels::Reduce op) {
  return op == kernels::Reduce::argmin || op == kernels::Reduce::argmax;
}

}  // namespace refrain::arrays::detail
