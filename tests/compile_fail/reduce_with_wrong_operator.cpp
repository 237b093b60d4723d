// expect: no match for .operator\*=. .operand types are .refrain::Reduce
#include <refrain/refrain.hpp>

using namespace refrain;

// += and *= belong to Sum and Product.
const Task multiply{"multiply", [](Reduce<Sum, double> x) { x[0] *= 2.0; }};
