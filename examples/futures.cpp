// Lesson 4: futures and reductions: a histogram and a mean, without waiting in between.
#include <refrain/refrain.hpp>

#include <cstdio>
using namespace refrain;

constexpr int samples = 100'000, bins = 10, pieces = 8;
struct Sample { static constexpr Field<double> value{"value"}; };
struct Bin { static constexpr Field<long> count{"count"}; };

const Task draw{"draw", [](Write<double> value) {
  for (auto p : value.domain()) {
    auto x = static_cast<double>(p * 2654435761 % 1000003) / 1000003;
    value[p] = x * x;
  }
}};
const Task sort_in{"sort_in", [](Read<double> value, Reduce<Sum, long> count) {
  for (auto p : value.domain()) count[static_cast<Coord>(value[p] * bins)] += 1;
}};
const Task sum{"sum", [](Read<double> value) {
  double total = 0;
  for (auto p : value.domain()) total += value[p];
  return total;
}};
const Task divide{"divide", [](double a, double b) { return a / b; }};

int main(int argc, char** argv) {
  return refrain::run(argc, argv, [](Context& ctx) {
    auto data = ctx.region(Rect1{0, samples - 1}, Sample::value);
    auto histogram = ctx.region(Rect1{0, bins - 1}, Bin::count);
    auto part = ctx.blocks(data, pieces);
    ctx.launch(draw, pieces, part[Sample::value]);

    // All points reduce into the same region: each has an accumulator of its own.
    ctx.launch(sort_in, pieces, part[Sample::value], histogram[Bin::count]);

    // A group returns one value per point. Reduced to one, it is an argument of the next launch.
    FutureMap<double> sums = ctx.launch(sum, pieces, part[Sample::value]);
    Future<double> total = ctx.reduce(sums, Sum{});
    Future<double> mean = ctx.launch(divide, total, double{samples});

    std::printf("mean %.3f\n", mean.get());  // the first wait
    auto count = ctx.access<Read>(histogram[Bin::count]);
    for (auto bin : count.domain()) std::printf("%d: %ld\n", static_cast<int>(bin), count[bin]);
  });
}
