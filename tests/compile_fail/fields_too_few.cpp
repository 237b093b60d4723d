// expect: this argument has not as many fields as the task's parameter, Fields<...>
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<double> x{"x"}, y{"y"};
const Task add{"add", [](Fields<Read<double>, Read<double>, Read<double>>) {}};

void program(Context& context) {
  const auto cells = context.region(Rect1{0, 9}, x, y);
  context.launch(add, cells[fields(x, y)]);
}
