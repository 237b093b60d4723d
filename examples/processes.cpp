// Lesson 9: one process or many: memory of one's own for each piece, and a future that decides.
#include <refrain/refrain.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>
using namespace refrain;

struct Rod { static constexpr Field<double> heat{"heat"}, next{"next"}; };
constexpr Coord last = 63, pieces = 8;

const Task relax{"relax", [](Write<double> to, Read<double> from) {
  for (auto p : to.domain())
    to[p] = p == 0 || p == last ? from[p] : 0.5 * (from[p - 1] + from[p + 1]);
}};
const Task change{"change", [](Read<double> a, Read<double> b) {
  double most = 0;
  for (auto p : a.domain()) most = std::max(most, std::abs(a[p] - b[p]));
  return most;
}};

int main(int argc, char** argv) {
  std::map<Coord, std::vector<double>> mine;  // of this process, by piece
  return refrain::run(argc, argv, [&](Context& ctx) {
    auto rod = ctx.region(Rect1{0, last}, Rod::heat, Rod::next);
    auto parts = ctx.blocks(rod, pieces);
    auto near = ctx.halo(parts, 1);
    ctx.attach(parts, Rod::heat, [&](Point1 piece) {  // each process is asked for its own pieces
      auto& values = mine.try_emplace(piece[0], 8, 0.0).first->second;
      if (piece == 0) values[0] = 100;
      return values.data();
    });

    int rounds = 0;
    for (double moved = 1; moved > 0.05; ++rounds) {
      ctx.launch(relax, pieces, parts[Rod::next], near[Rod::heat]);
      ctx.launch(relax, pieces, parts[Rod::heat], near[Rod::next]);
      auto changes = ctx.launch(change, pieces, parts[Rod::heat], parts[Rod::next]);
      moved = ctx.reduce(changes, Max{}).get();  // the same in every process: all go on, or none
    }
    {
      auto first = ctx.access<Read>(parts(0)[Rod::heat]);
      std::printf("after %d rounds: %.3f beside the hot end\n", rounds, first[1]);
    }
    ctx.detach(parts, Rod::heat);  // mine has the values of this process's pieces
  });
}
