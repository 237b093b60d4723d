#include "parallel.hpp"

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "../common/host_task.hpp"
#include "kernels.hpp"

namespace stencil {

namespace {

using namespace refrain;
using apps::host_task;

struct Grid {
  static constexpr Field<double> in{"in"}, out{"out"};
};

// Values between a point and the one below it.
template <class Accessor>
std::ptrdiff_t row_stride(const Accessor& a) {
  return a.stride(0) / static_cast<std::ptrdiff_t>(sizeof(double));
}

void check_order(bool is_c) {
  if (!is_c) throw std::runtime_error("the stencil wants instances in C order");
}

// `out` covers the tile's points at least R away from the boundary, `in` those and R more around.
template <int R>
void star_tile(const ReadWrite<double, 2>& out, const Read<double, 2>& in) {
  const Rect2& tile = out.domain().bounds();
  if (tile.empty()) return;
  check_order(out.contiguous_rows() && in.contiguous_rows());
  const Coord width = tile.hi[1] - tile.lo[1] + 1;
  double* out_row = out.pointer(tile.lo);
  const double* in_row = in.pointer(tile.lo);
  for (Coord i = tile.lo[0]; i <= tile.hi[0]; ++i) {
    star_row<R>(out_row, in_row, row_stride(in), width);
    out_row += row_stride(out);
    in_row += row_stride(in);
  }
}

void increment_tile(const ReadWrite<double, 2>& in) {
  check_order(in.contiguous_rows());
  const Rect2& tile = in.domain().bounds();
  double* row = in.pointer(tile.lo);
  for (Coord i = tile.lo[0]; i <= tile.hi[0]; ++i, row += row_stride(in))
    increment_row(row, tile.hi[1] - tile.lo[1] + 1);
}

double sum_of_magnitudes(const Read<double, 2>& out) {
  double sum = 0;
  for (auto p : out.domain()) sum += std::fabs(out[p]);
  return sum;
}

bool equals(Context& ctx, const Region<2>& grid, Coord n, const std::vector<double>& expected) {
  auto out = ctx.access<Read>(grid[Grid::out]);
  const auto row = static_cast<std::size_t>(n);
  for (Coord i = 0; i < n; ++i) {
    const double* wanted = expected.data() + static_cast<std::size_t>(i) * row;
    if (std::memcmp(out.row({i, 0}, row).data(), wanted, row * sizeof(double)) != 0) return false;
  }
  return true;
}

template <int R>
Outcome run(Context& ctx, const Setup& setup, apps::Progress& progress,
            const std::vector<double>* expected) {
  const auto grid = ctx.region(Rect2{{0, 0}, {setup.n - 1, setup.n - 1}}, Grid::in, Grid::out);
  const auto tile = ctx.blocks(grid, setup.tiles);
  const auto inner = ctx.interior(tile, R);
  const auto around = ctx.halo(tile, R);
  const Rect2 tiles{{0, 0}, {setup.tiles[0] - 1, setup.tiles[1] - 1}};

  const auto start = host_task("start", [](Write<double, 2> in) {
    for (auto p : in.domain()) in[p] = static_cast<double>(p[0] + p[1]);
  });
  const auto star = host_task(
      "star", [](ReadWrite<double, 2> out, Read<double, 2> in) { star_tile<R>(out, in); });
  const auto increment = host_task("increment", [&progress](ReadWrite<double, 2> in, Point<2> p) {
    increment_tile(in);
    if (p == Point2{0, 0}) progress.step();
  });
  const auto measure =
      host_task("measure", [](Read<double, 2> out) { return sum_of_magnitudes(out); });

  const Trace iteration{"iteration"};
  const auto iterate_once = [&] {
    ctx.launch(star, tiles, inner[Grid::out], around[Grid::in]);
    ctx.launch(increment, tiles, tile[Grid::in]);
  };
  const auto iterate = [&](int times) {
    for (int t = 0; t < times; ++t) {
      if (setup.trace) ctx.trace(iteration, iterate_once);
      else iterate_once();
    }
    ctx.fence();
  };

  ctx.launch(start, tiles, tile[Grid::in]);
  ctx.fill(grid, Grid::out, 0.0);
  iterate(setup.warm_up);
  const apps::Timer timer;
  iterate(setup.iterations);

  Outcome outcome;
  outcome.seconds = timer.seconds();
  const auto sum = ctx.reduce(ctx.launch(measure, tiles, inner[Grid::out]), Sum{});
  outcome.norm = sum.get() / setup.active_points();
  outcome.identical = expected == nullptr || equals(ctx, grid, setup.n, *expected);
  return outcome;
}

}  // namespace

Outcome run_parallel(Context& ctx, const Setup& setup, apps::Progress& progress,
                     const std::vector<double>* expected) {
  switch (setup.radius) {
    case 1: return run<1>(ctx, setup, progress, expected);
    case 2: return run<2>(ctx, setup, progress, expected);
    case 3: return run<3>(ctx, setup, progress, expected);
    case 4: return run<4>(ctx, setup, progress, expected);
    default: throw std::invalid_argument("the radius is 1 to 4");
  }
}

}  // namespace stencil
