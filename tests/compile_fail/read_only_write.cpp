// expect: assignment of read-only location
#include <refrain/refrain.hpp>

using namespace refrain;

// A task that only reads its argument writes to it.
const Task scale{"scale", [](Read<double> x) {
                   for (auto p : x.domain()) x[p] = 2;
                 }};
