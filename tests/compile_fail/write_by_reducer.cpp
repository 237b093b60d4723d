// expect: no match for .operator=. .operand types are .refrain::Reduce
#include <refrain/refrain.hpp>

using namespace refrain;

// A reducing task may only contribute.
const Task set{"set", [](Reduce<Sum, double> x) { x[0] = 1.0; }};
