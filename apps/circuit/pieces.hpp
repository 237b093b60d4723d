#pragma once
// The regions of the circuit and how they are cut. Seen from a piece, a node is
//   private  its own, and no other piece's wire ends there
//   shared   its own, and another piece's wire ends there
//   ghost    another piece's, where one of its own wires ends

#include <cstdint>

#include "circuit.hpp"
#include "refrain/refrain.hpp"

namespace circuit {

enum class Place : std::int32_t { private_node, shared_node, ghost_node };

/// A wire's constants, and where its piece finds the nodes at its ends.
struct WireInPiece {
  WireConstants constants;
  Place in;
  Place out;
};

struct Node {
  static constexpr refrain::Field<double> voltage{"voltage"}, charge{"charge"};
  static constexpr refrain::Field<NodeConstants> constants{"constants"};
  static constexpr refrain::Field<Coord> piece{"piece"};
  static constexpr refrain::Field<Place> place{"place"};  ///< private or shared
};

struct Wire {
  static constexpr refrain::Field<refrain::Point1> in{"in"}, out{"out"};
  static constexpr refrain::Field<Currents> current{"current"};
  static constexpr refrain::Field<InnerVoltages> inner{"inner"};
  static constexpr refrain::Field<WireInPiece> constants{"constants"};
};

struct Pieces {
  refrain::Region<1> nodes, wires;
  refrain::Partition<1> own_wires;
  refrain::Partition<1> private_nodes, shared_nodes, ghost_nodes;
};

/// Makes the graph and cuts it.
Pieces make_pieces(refrain::Context& ctx, const Setup& setup);

}  // namespace circuit
