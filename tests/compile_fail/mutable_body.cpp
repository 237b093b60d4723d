// expect: must not be .mutable
#include <refrain/refrain.hpp>

using namespace refrain;

const Task count{"count", [n = 0]() mutable { ++n; }};
