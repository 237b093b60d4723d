// Lesson 5: ghost cells. Every tile reads one cell more on each side than it writes.
#include <refrain/refrain.hpp>

#include <cstdio>
using namespace refrain;

constexpr int ncells = 1 << 20, ntiles = 8, nsteps = 100;
struct Cell { static constexpr Field<double> state{"state"}, flux{"flux"}; };

const Task add_one{"add_one", [](ReadWrite<double> state) {
  for (auto p : state.domain()) state[p] += 1;
}};
const Task mul_two{"mul_two", [](ReadWrite<double> flux) {
  for (auto p : flux.domain()) flux[p] *= 2;
}};
const Task stencil{"stencil", [](ReadWrite<double> flux, Read<double> state) {
  for (auto p : flux.domain()) flux[p] += 0.5 * (state[p - 1] + state[p + 1]);
}};

int main(int argc, char** argv) {
  return refrain::run(argc, argv, [](Context& ctx) {
    auto cells = ctx.region(Rect1{0, ncells - 1}, Cell::state, Cell::flux);
    auto owned = ctx.blocks(cells, ntiles);
    auto interior = ctx.interior(owned, 1);
    auto ghost = ctx.halo(owned, 1);
    ctx.fill(cells, Cell::state, 1.0);
    ctx.fill(cells, Cell::flux, 1.0);
    for (int t = 0; t < nsteps; ++t) {
      ctx.launch(add_one, ntiles, owned[Cell::state]);
      ctx.launch(mul_two, ntiles, interior[Cell::flux]);
      ctx.launch(stencil, ntiles, interior[Cell::flux], ghost[Cell::state]);
    }
    auto state = ctx.access<Read>(cells[Cell::state]);
    auto flux = ctx.access<Read>(cells[Cell::flux]);
    for (Coord i : {0, 1, ncells / 2, ncells - 1})
      std::printf("cell %7d: state %g, flux %.12g\n", static_cast<int>(i), state[i], flux[i]);
  });
}
