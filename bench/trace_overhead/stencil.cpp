#include "trace_overhead/program.hpp"

namespace refrain::bench {

namespace {

constexpr Coord edge = 512;
constexpr int radius = 2;

constexpr Field<double> in{"in"}, out{"out"};

const Task star{"star", [](ReadWrite<double, 2>, Read<double, 2>) {}};
const Task increment{"increment", [](ReadWrite<double, 2>) {}};

/// As square as it gets.
Point2 arrange(Coord tiles) {
  Coord down = 1;
  while (4 * down * down <= tiles) down *= 2;
  return {tiles / down, down};
}

class Stencil final : public Program {
 public:
  Stencil(Context& context, int tiles) : Program(context) {
    const auto grid = context.region(Rect2{{0, 0}, {edge - 1, edge - 1}}, in, out);
    const Point2 counts = arrange(tiles);
    all_ = Rect2{{0, 0}, {counts[0] - 1, counts[1] - 1}};
    tile_ = context.blocks(grid, counts);
    inner_ = context.interior(tile_, radius);
    around_ = context.halo(tile_, radius);
    context.fill(grid, in, 0.0);
    context.fill(grid, out, 0.0);
  }

  void occurrence() override {
    context_.launch(star, all_, inner_[out], around_[in]);
    context_.launch(increment, all_, tile_[in]);
  }

 private:
  Rect2 all_;
  Partition<2> tile_, inner_, around_;
};

}  // namespace

std::unique_ptr<Program> make_stencil(Context& context, int tiles) {
  return std::make_unique<Stencil>(context, tiles);
}

}  // namespace refrain::bench
