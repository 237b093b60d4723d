#pragma once
// The circuit: a random graph of nodes joined by wires, cut into pieces, of equal size or not. It is made by
// counting, not by drawing: what node or wire i is depends on the seed and i alone, so that tasks may
// make it in any order, and the sequential program makes the same.
//
// A wire belongs to the piece of its in node. Its out node lies in the same piece, or with a chance of
// 1 - percent_in_piece / 100 in another one; such wires end in the rim of that piece, the first nodes
// in it, as cut edges do after a good partitioning. With `neighbours` that is one of the next pieces.

#include <array>
#include <cstdint>

#include "refrain/geometry.hpp"

namespace circuit {

using refrain::Coord;

/// How large pieces are, relative to each other, the smallest first. There are as many pieces of each of these sizes.
struct Sizes {
  static constexpr int most = 8;
  std::array<Coord, most> each{1};
  int count = 1;
};

struct Setup {
  Coord pieces = 16;    ///< a multiple of sizes.count
  Coord nodes = 2500;   ///< per piece of size 1
  Coord wires = 10000;  ///< per piece of size 1
  Sizes sizes = {};
  int percent_in_piece = 95;  ///< of the wires
  Coord neighbours = 0;       ///< wires leave a piece for one of so many after it; 0: for any
  int steps = 80;             ///< timed
  int warm_up = 0;            ///< steps before them
  int substeps = 30;          ///< inner steps in which a wire's currents and voltages settle
  bool trace = false;         ///< each step is a trace: analysed once, then replayed
  std::uint64_t seed = 12345;

  [[nodiscard]] Coord size(Coord piece) const {
    return sizes.each[static_cast<std::size_t>(piece / of_one_size())];
  }
  /// The sizes of all pieces before this one; of all, for one behind the last.
  [[nodiscard]] Coord before(Coord piece) const {
    Coord sum = piece % of_one_size() * (piece < pieces ? size(piece) : 0);
    for (int i = 0; i < piece / of_one_size(); ++i)
      sum += of_one_size() * sizes.each[static_cast<std::size_t>(i)];
    return sum;
  }
  [[nodiscard]] Coord first_node(Coord piece) const { return before(piece) * nodes; }
  [[nodiscard]] Coord first_wire(Coord piece) const { return before(piece) * wires; }
  [[nodiscard]] Coord all_nodes() const { return first_node(pieces); }
  [[nodiscard]] Coord all_wires() const { return first_wire(pieces); }
  [[nodiscard]] Coord piece_of_node(Coord node) const { return piece_at(node / nodes); }
  [[nodiscard]] Coord piece_of_wire(Coord wire) const { return piece_at(wire / wires); }
  /// How many nodes of a piece wires of other pieces may end in.
  [[nodiscard]] Coord rim(Coord piece) const {
    const Coord some = size(piece) * nodes * (100 - percent_in_piece) / 100;
    return some > 0 ? some : 1;
  }

 private:
  [[nodiscard]] Coord of_one_size() const { return pieces / sizes.count; }
  /// The one that has this part, where a piece has as many parts as its size is.
  [[nodiscard]] Coord piece_at(Coord part) const {
    std::size_t i = 0;
    Coord piece = 0;
    for (; part >= of_one_size() * sizes.each[i]; ++i) {
      part -= of_one_size() * sizes.each[i];
      piece += of_one_size();
    }
    return piece + part / sizes.each[i];
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
