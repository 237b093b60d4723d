// Lesson 8: traces. A loop whose rounds are analysed once, and replayed.
#include <refrain/refrain.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
using namespace refrain;

constexpr int ncells = 64, ntiles = 4;
struct Rod { static constexpr Field<double> heat{"heat"}, next{"next"}; };

const Task relax{"relax", [](Write<double> to, Read<double> from) {
  for (auto p : to.domain()) to[p] = 0.5 * (from[p - 1] + from[p + 1]);
}};
const Task change{"change", [](Read<double> a, Read<double> b) {
  double most = 0;
  for (auto p : a.domain()) most = std::max(most, std::fabs(a[p] - b[p]));
  return most;
}};

const Trace rounds{"rounds"};  // a name for what repeats; it outlives the loop

int main(int argc, char** argv) {
  return refrain::run(argc, argv, [](Context& ctx) {
    auto rod = ctx.region(Rect1{0, ncells - 1}, Rod::heat, Rod::next);
    auto owned = ctx.blocks(rod, ntiles);
    auto inner = ctx.interior(owned, 1);
    auto ghost = ctx.halo(owned, 1);
    ctx.fill(rod, Rod::heat, 0.0);
    ctx.fill(rod, Rod::next, 0.0);
    for (const auto& field : {Rod::heat, Rod::next}) ctx.access<ReadWrite>(rod[field])[0] = 1;

    int count = 0;
    double moved = 1;
    while (moved > 1e-6) {
      Future<double> most;
      ctx.trace(rounds, [&] {
        ctx.launch(relax, ntiles, inner[Rod::next], ghost[Rod::heat]);
        ctx.launch(relax, ntiles, inner[Rod::heat], ghost[Rod::next]);
        most = ctx.reduce(ctx.launch(change, ntiles, inner[Rod::heat], inner[Rod::next]), Max{});
      });
      moved = most.get();
      // From now on, a round that is not replayed is an error that says why.
      if (++count == 3) ctx.require_replay(rounds);
    }
    auto heat = ctx.access<Read>(rod[Rod::heat]);
    std::printf("settled after %d rounds: %.4f in the middle\n", count, heat[ncells / 2]);
  });
}
