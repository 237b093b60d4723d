// expect: a task is made of its name and its body
#include <refrain/refrain.hpp>

using namespace refrain;

const Task scale{[](ReadWrite<double> x) { x[0] = 2; }};
