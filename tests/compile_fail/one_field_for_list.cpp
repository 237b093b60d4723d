// expect: this parameter of the task is a list of fields \(FieldList<...>\): pass region\[list\] or partition\[list\] with a std::vector of fields for it
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<double> x{"x"};
const Task add{"add", [](FieldList<Read<double>>) {}};

void program(Context& context) {
  const auto cells = context.region(Rect1{0, 9}, x);
  context.launch(add, cells[std::vector<Field<double>>{x}]);
  context.launch(add, cells[x]);
}
