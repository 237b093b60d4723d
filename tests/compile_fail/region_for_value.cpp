// expect: does not convert to the task.s by-value parameter
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<double> mass{"mass"};
const Task scale{"scale", [](ReadWrite<double> x, double a) { x[0] = a; }};

void program(Context& context) {
  auto cells = context.region(Rect1{0, 9}, mass);
  context.launch(scale, cells[mass], cells[mass]);
}
