// expect: all variants of a task return the same type
#include <refrain/refrain.hpp>

#include <string>

using namespace refrain;

const Task sum{"sum", on<ProcessorKind::cpu>([](Read<double>) { return 1; }),
               on<ProcessorKind::gpu>([](Read<double>) { return std::string("1"); })};
