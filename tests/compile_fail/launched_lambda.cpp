// expect: what is launched is no task: make a Task of the lambda
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<double> mass{"mass"};

void program(Context& context) {
  auto cells = context.region(Rect1{0, 9}, mass);
  context.launch([](ReadWrite<double> x) { x[0] = 1; }, cells[mass]);
}
