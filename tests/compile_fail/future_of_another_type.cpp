// expect: a future stands for a by-value parameter of exactly its type
#include <refrain/refrain.hpp>

using namespace refrain;

const Task half{"half", [](int x) { return x / 2; }};
const Task print{"print", [](double) {}};

void program(Context& ctx) { ctx.launch(print, ctx.launch(half, 4)); }
