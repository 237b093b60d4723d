// expect: this parameter of the task is an accessor
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<double> mass{"mass"};
const Task scale{"scale", [](ReadWrite<double> x) { x[0] = 2; }};

void program(Context& context) {
  auto cells = context.region(Rect1{0, 9}, mass);
  context.launch(scale, 2, context.blocks(cells, 2));
}
