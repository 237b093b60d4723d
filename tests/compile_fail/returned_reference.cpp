// expect: a task returns a value
#include <refrain/refrain.hpp>

using namespace refrain;

const Task name{"name", [](Read<double> x) -> const double& { return x[0]; }};
