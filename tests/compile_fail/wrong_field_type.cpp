// expect: the field.s type is not the type in the task.s accessor
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<float> mass{"mass"};
const Task scale{"scale", [](ReadWrite<double> x) { x[0] = 2; }};

void program(Context& context) {
  auto cells = context.region(Rect1{0, 9}, mass);
  context.launch(scale, cells[mass]);
}
