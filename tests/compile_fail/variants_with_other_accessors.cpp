// expect: all variants of a task take the same accessors
#include <refrain/refrain.hpp>

using namespace refrain;

const Task scale{"scale", on<ProcessorKind::cpu>([](Read<double>) {}),
                 on<ProcessorKind::gpu>([](ReadWrite<double> x) { x[0] = 2; })};
