#pragma once
// The circuit: a random graph of nodes joined by wires, cut into pieces of equal size. It is made by
// counting, not by drawing: what node or wire i is depends on the seed and i alone, so that tasks may
// make it in any order, and the sequential program makes the same.
//
// A wire belongs to the piece of its in node. Its out node lies in the same piece, or with a chance of
// 1 - percent_in_piece / 100 in another one; such wires end in the rim of that piece, the first nodes
// in it, as cut edges do after a good partitioning.

#include <array>
#include <cstdint>

#include "refrain/geometry.hpp"

namespace circuit {

using refrain::Coord;

struct Setup {
  Coord pieces = 16;
  Coord nodes = 2500;         ///< per piece
  Coord wires = 10000;        ///< per piece
  int percent_in_piece = 95;  ///< of the wires
  int steps = 80;             ///< timed
  int warm_up = 0;            ///< steps before them
  int substeps = 30;          ///< inner steps in which a wire's currents and voltages settle
  bool trace = false;         ///< each step is a trace: analysed once, then replayed
  std::uint64_t seed = 12345;

  [[nodiscard]] Coord all_nodes() const { return pieces * nodes; }
  [[nodiscard]] Coord all_wires() const { return pieces * wires; }
  /// How many nodes of a piece wires of other pieces may end in.
  [[nodiscard]] Coord rim() const {
    const Coord some = nodes * (100 - percent_in_piece) / 100;
    return some > 0 ? some : 1;
  }
};

inline constexpr int segments = 10;  ///< of a wire, in series
inline constexpr double dt = 1e-3;   ///< seconds per step

using Currents = std::array<double, segments>;           ///< I[1..K], positive from in to out
using InnerVoltages = std::array<double, segments - 1>;  ///< V[1..K-1]

struct NodeConstants {
  double capacitance;
  double leakage;
};

/// Of each segment of a wire, and of the inner nodes between segments.
struct WireConstants {
  double inductance;
  double resistance;
  double capacitance;
};

struct Ends {
  Coord in;
  Coord out;
};

NodeConstants node_constants(const Setup& setup, Coord node);
double first_voltage(const Setup& setup, Coord node);
WireConstants wire_constants(const Setup& setup, Coord wire);
Ends wire_ends(const Setup& setup, Coord wire);

/// An amount of charge and the size of what was added up to it, to judge its rounding by.
struct Charge {
  double amount = 0;
  double size = 0;
};

/// The invariant of a step: what the nodes gained, the wires lost. How far that is from the truth.
double imbalance(const Charge& nodes, const Charge& wires);
inline constexpr double largest_imbalance = 1e-12;

}  // namespace circuit
