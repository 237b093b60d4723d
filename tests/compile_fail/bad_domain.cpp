// expect: the first argument of a group launch is its domain
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<double> mass{"mass"};
const Task scale{"scale", [](ReadWrite<double> x) { x[0] = 2; }};

void program(Context& context) {
  auto cells = context.region(Rect1{0, 9}, mass);
  auto blocks = context.blocks(cells, 2);
  context.launch(scale, "two", blocks[mass]);
}
