// expect: this parameter of the task has several fields \(Fields<...>\): pass region\[fields\(a, b\)\] or partition\[fields\(a, b\)\] for it
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<double> x{"x"}, y{"y"};
const Task add{"add", [](Fields<Read<double>, Read<double>>) {}};

void program(Context& context) {
  const auto cells = context.region(Rect1{0, 9}, x, y);
  context.launch(add, cells[fields(x, y)]);
  context.launch(add, cells[x]);
}
