// expect: a region needs at least one field
#include <refrain/refrain.hpp>

using namespace refrain;

void program(Context& context) { context.region(Rect1{0, 9}); }
