// expect: per_point gives an argument for each point of a group launch
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<double> mass{"mass"};
const Task scale{"scale", [](ReadWrite<double> x, double a) { x[0] = a; }};

void program(Context& context) {
  auto cells = context.region(Rect1{0, 9}, mass);
  context.launch(scale, cells[mass], per_point([](Point<1>) { return 2.0; }));
}
