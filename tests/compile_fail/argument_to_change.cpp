// expect: takes its arguments by value or const&
#include <refrain/refrain.hpp>

using namespace refrain;

const Task count{"count", [](Read<double> x, int& points) { points += int(x.domain().volume()); }};
