#include "pieces.hpp"

#include "../common/host_task.hpp"

namespace circuit {

namespace {

using namespace refrain;
using apps::host_task;

void make_nodes(Context& ctx, const Setup& setup, const Region<1>& nodes) {
  const auto make = host_task(
      "make_nodes", [](Write<double> voltage, Write<double> charge, Write<NodeConstants> constants,
                       Write<Coord> piece, const Setup& s) {
        for (auto n : voltage.domain()) {
          voltage[n] = first_voltage(s, n);
          charge[n] = 0.0;
          constants[n] = node_constants(s, n);
          piece[n] = s.piece_of_node(n);
        }
      });
  const auto block = ctx.blocks(nodes, setup.pieces);
  ctx.launch(make, setup.pieces, block[Node::voltage], block[Node::charge], block[Node::constants],
             block[Node::piece], setup);
}

void make_wires(Context& ctx, const Setup& setup, const Region<1>& wires) {
  const auto make = host_task(
      "make_wires", [](Write<Point1> in, Write<Point1> out, Write<Currents> current,
                       Write<InnerVoltages> inner, Write<WireInPiece> constants, const Setup& s) {
        for (auto w : in.domain()) {
          const Ends ends = wire_ends(s, w);
          in[w] = ends.in;
          out[w] = ends.out;
          current[w] = {};
          inner[w] = {};
          constants[w] = {wire_constants(s, w), Place::private_node, Place::private_node};
        }
      });
  const auto block = ctx.blocks(wires, setup.pieces);
  ctx.launch(make, setup.pieces, block[Wire::in], block[Wire::out], block[Wire::current],
             block[Wire::inner], block[Wire::constants], setup);
}

// Tells every wire where its piece finds its ends, so that the steps need not look it up.
void place_ends(Context& ctx, const Setup& setup, const Pieces& pieces,
                const Partition<1>& own_nodes) {
  const auto mark = host_task("mark_shared", [](Write<Place> place) {
    for (auto n : place.domain()) place[n] = Place::shared_node;
  });
  const auto place_wires = host_task(
      "place_ends",
      [](ReadWrite<WireInPiece> constants, Read<Point1> in, Read<Point1> out, Read<Place> place) {
        const Rect1& own = place.domain().bounds();  // a piece's nodes are consecutive
        for (auto w : constants.domain()) {
          constants[w].in = place[in[w]];
          constants[w].out = own.contains(out[w]) ? place[out[w]] : Place::ghost_node;
        }
      });
  ctx.fill(pieces.nodes, Node::place, Place::private_node);
  ctx.launch(mark, setup.pieces, pieces.shared_nodes[Node::place]);
  ctx.launch(place_wires, setup.pieces, pieces.own_wires[Wire::constants],
             pieces.own_wires[Wire::in], pieces.own_wires[Wire::out], own_nodes[Node::place]);
}

}  // namespace

Pieces make_pieces(Context& ctx, const Setup& setup) {
  Pieces p;
  p.nodes = ctx.region(Rect1{0, setup.all_nodes() - 1}, Node::voltage, Node::charge,
                       Node::constants, Node::piece, Node::place);
  p.wires = ctx.region(Rect1{0, setup.all_wires() - 1}, Wire::in, Wire::out, Wire::current,
                       Wire::inner, Wire::constants);
  make_nodes(ctx, setup, p.nodes);
  make_wires(ctx, setup, p.wires);

  const auto own_nodes = ctx.by_colour(p.nodes, Node::piece, setup.pieces);
  p.own_wires = ctx.preimage(p.wires, own_nodes, Wire::in);
  const auto reached = ctx.image(p.nodes, p.own_wires, Wire::out);
  p.ghost_nodes = ctx.subtract(reached, own_nodes);
  // A piece's shared nodes are where wires of other pieces end in it.
  const auto ending_here = ctx.preimage(p.wires, own_nodes, Wire::out);
  const auto from_outside = ctx.subtract(ending_here, p.own_wires);
  p.shared_nodes = ctx.image(p.nodes, from_outside, Wire::out);
  p.private_nodes = ctx.subtract(own_nodes, p.shared_nodes);

  place_ends(ctx, setup, p, own_nodes);
  return p;
}

}  // namespace circuit
