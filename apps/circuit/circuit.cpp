#include "circuit.hpp"

#include <algorithm>
#include <cmath>

namespace circuit {

namespace {

enum class Stream : std::uint64_t {
  node_capacitance,
  node_leakage,
  node_voltage,
  wire_inductance,
  wire_resistance,
  wire_capacitance,
  wire_in,
  wire_leaves,
  wire_piece,
  wire_out,
};

// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014), a bijection that mixes well.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Number i of a stream, in [0, 1).
double uniform(const Setup& setup, Stream stream, Coord i) {
  const std::uint64_t key = mix(mix(setup.seed) + static_cast<std::uint64_t>(stream));
  return static_cast<double>(mix(key + static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
}

double between(const Setup& setup, Stream stream, Coord i, double low, double high) {
  return low + (high - low) * uniform(setup, stream, i);
}

Coord below(const Setup& setup, Stream stream, Coord i, Coord bound) {
  return static_cast<Coord>(uniform(setup, stream, i) * static_cast<double>(bound));
}

}  // namespace

NodeConstants node_constants(const Setup& setup, Coord node) {
  return {between(setup, Stream::node_capacitance, node, 1.0, 10.0),
          between(setup, Stream::node_leakage, node, 0.0, 1e-3)};
}

double first_voltage(const Setup& setup, Coord node) {
  return between(setup, Stream::node_voltage, node, -1.0, 1.0);
}

// In these ranges the inner steps of a wire converge (see physics.hpp).
WireConstants wire_constants(const Setup& setup, Coord wire) {
  return {between(setup, Stream::wire_inductance, wire, 1e-3, 1e-2),
          between(setup, Stream::wire_resistance, wire, 1.0, 10.0),
          between(setup, Stream::wire_capacitance, wire, 5e-3, 5e-2)};
}

Ends wire_ends(const Setup& setup, Coord wire) {
  const Coord piece = setup.piece_of_wire(wire);
  const Coord nodes = setup.size(piece) * setup.nodes;
  const Coord in = setup.first_node(piece) + below(setup, Stream::wire_in, wire, nodes);
  const bool leaves =
      setup.pieces > 1 && below(setup, Stream::wire_leaves, wire, 100) >= setup.percent_in_piece;
  if (!leaves) return {in, setup.first_node(piece) + below(setup, Stream::wire_out, wire, nodes)};
  const Coord others =
      setup.neighbours > 0 ? std::min(setup.neighbours, setup.pieces - 1) : setup.pieces - 1;
  const Coord other = (piece + 1 + below(setup, Stream::wire_piece, wire, others)) % setup.pieces;
  return {in, setup.first_node(other) + below(setup, Stream::wire_out, wire, setup.rim(other))};
}

double imbalance(const Charge& nodes, const Charge& wires) {
  const double size = nodes.size + wires.size;
  return size > 0 ? std::fabs(nodes.amount + wires.amount) / size : 0.0;
}

}  // namespace circuit
