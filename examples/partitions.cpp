// Lesson 3: ways to cut a region. Nothing is computed here; the pieces are printed.
#include <refrain/refrain.hpp>

#include <cstdio>
using namespace refrain;

struct Cell { static constexpr Field<Point1> next{"next"}; static constexpr Field<Coord> team{"team"}; };

void show(const char* what, const Partition<1>& pieces) {
  std::printf("%-28s", what);
  for (std::size_t c = 0; c < pieces.pieces(); ++c) {
    std::printf(" {");
    const char* gap = "";
    for (auto p : pieces(static_cast<Coord>(c)).domain()) {
      std::printf("%s%d", gap, static_cast<int>(p[0]));
      gap = " ";
    }
    std::printf("}");
  }
  std::printf("%s%s\n", pieces.is_disjoint() ? "" : ", overlapping",
              pieces.is_complete() ? "" : ", incomplete");
}

const Task connect{"connect", [](Write<Point1> next, Write<Coord> team) {
  for (auto p : next.domain()) {
    next[p] = (p * 5 + 1) % 12;
    team[p] = p % 3;
  }
}};

int main(int argc, char** argv) {
  return refrain::run(argc, argv, [](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 11}, Cell::next, Cell::team);
    auto blocks = ctx.blocks(cells, 3);
    show("blocks(cells, 3)", blocks);
    show("halo(blocks, 1)", ctx.halo(blocks, 1));
    show("interior(blocks, 1)", ctx.interior(blocks, 1));

    ctx.launch(connect, cells[Cell::next], cells[Cell::team]);
    show("by_colour(team)", ctx.by_colour(cells, Cell::team, 3));
    auto reached = ctx.image(cells, blocks, Cell::next);
    show("image(blocks, next)", reached);
    show("preimage(blocks, next)", ctx.preimage(cells, blocks, Cell::next));

    // What a block needs from others: where its pointers lead, less what it has.
    show("subtract(image, blocks)", ctx.subtract(reached, blocks));

    // A piece can be cut again.
    show("blocks(blocks(2), 2)", ctx.blocks(blocks(2), 2));
  });
}
