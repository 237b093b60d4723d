// expect: fill is for a region
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<double> mass{"mass"};

void program(Context& context) {
  auto cells = context.region(Rect1{0, 9}, mass);
  context.fill(context.blocks(cells, 2), mass, 1.0);
}
