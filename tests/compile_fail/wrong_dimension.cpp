// expect: the region.s number of dimensions is not the one in the task.s accessor
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<double> mass{"mass"};
const Task scale{"scale", [](ReadWrite<double, 2> x) { x[{0, 0}] = 2; }};

void program(Context& context) {
  auto cells = context.region(Rect1{0, 9}, mass);
  context.launch(scale, cells[mass]);
}
