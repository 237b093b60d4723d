// Lesson 2: a region, partitions and a task: y = a x + y.
#include <refrain/refrain.hpp>

#include <cstdio>
using namespace refrain;

struct Vec { static constexpr Field<float> x{"x"}, y{"y"}; };

const Task saxpy{"saxpy", [](ReadWrite<float> y, Read<float> x, float a) {
  for (auto p : y.domain()) y[p] += a * x[p];
}};

int main(int argc, char** argv) {
  return refrain::run(argc, argv, [](Context& ctx) {
    auto vec = ctx.region(Rect1{0, 999'999}, Vec::x, Vec::y);
    auto part = ctx.blocks(vec, 8);
    ctx.fill(vec, Vec::x, 1.0f);
    ctx.fill(vec, Vec::y, 2.0f);
    ctx.launch(saxpy, 8, part[Vec::y], part[Vec::x], 3.0f);
    auto y = ctx.access<Read>(vec[Vec::y]);
    std::printf("y[0] = %g, y[999999] = %g\n", y[0], y[999'999]);
  });
}
