// expect: the field's type is not the type in the task's accessor
#include <refrain/refrain.hpp>

using namespace refrain;

constexpr Field<float> x{"x"};
const Task add{"add", [](FieldList<Read<double>>) {}};

void program(Context& context) {
  const auto cells = context.region(Rect1{0, 9}, x);
  context.launch(add, cells[std::vector<Field<float>>{x}]);
}
