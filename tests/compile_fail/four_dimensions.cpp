// expect: have 1, 2 or 3 dimensions
#include <refrain/refrain.hpp>

using namespace refrain;

Point<4> p;
