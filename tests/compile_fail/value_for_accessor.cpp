// expect: this parameter of the task is an accessor
#include <refrain/refrain.hpp>

using namespace refrain;

const Task scale{"scale", [](ReadWrite<double> x) { x[0] = 2; }};

void program(Context& context) { context.launch(scale, 3.0); }
