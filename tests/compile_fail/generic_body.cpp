// expect: parameters have their types written
#include <refrain/refrain.hpp>

using namespace refrain;

const Task clear{"clear", [](auto x) {
                   for (auto p : x.domain()) x[p] = 0;
                 }};
