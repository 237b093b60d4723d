#pragma once
// The physics of one wire and one node, shared by the parallel and the sequential programs so that all
// compute the same bits.
//
// A wire is K segments in series, each an inductance L and a resistance R; between them are inner nodes
// of capacitance C. One implicit step of length dt solves
//     V[k-1] - V[k] = R I[k] + L (I[k] - I_before[k]) / dt      k = 1..K, V[0] and V[K] given
//     C (V[k] - V_before[k]) / dt = I[k] - I[k+1]               k = 1..K-1
// by inner steps, each all currents from the voltages and then all inner voltages from the currents.
// They contract when 4 dt / (C (R + L / dt)) < 1. The voltages come last, so the charge that the inner
// nodes gain is dt (I[1] - I[K]) to rounding, after however many inner steps: the step's invariant.

#include <cmath>

#include "circuit.hpp"

namespace circuit {

/// Advances a wire by one step; what its inner nodes gained.
inline Charge advance_wire(Currents& current, InnerVoltages& inner, const WireConstants& wire,
                           double in_voltage, double out_voltage, int substeps) {
  const double conductance = 1.0 / (wire.resistance + wire.inductance / dt);
  const double mobility = dt / wire.capacitance;
  Currents memory;  // what the inductances hold on to
  for (int k = 0; k < segments; ++k) memory[k] = wire.inductance / dt * current[k];
  std::array<double, segments + 1> v;
  v[0] = in_voltage;
  for (int k = 1; k < segments; ++k) v[k] = inner[k - 1];
  v[segments] = out_voltage;

  Currents i;
  for (int s = 0; s < substeps; ++s) {
    for (int k = 0; k < segments; ++k) i[k] = (v[k] - v[k + 1] + memory[k]) * conductance;
    for (int k = 1; k < segments; ++k) v[k] = inner[k - 1] + (i[k - 1] - i[k]) * mobility;
  }

  Charge gained;
  for (int k = 1; k < segments; ++k) {
    gained.amount += v[k] - inner[k - 1];
    gained.size += std::fabs(v[k]) + std::fabs(inner[k - 1]);
    inner[k - 1] = v[k];
  }
  current = i;
  return {gained.amount * wire.capacitance, gained.size * wire.capacitance};
}

/// What a wire brings to its in node and to its out node in one step.
inline double charge_to_in(const Currents& current) { return -dt * current[0]; }
inline double charge_to_out(const Currents& current) { return dt * current[segments - 1]; }

/// Turns a node's charge into voltage; what it had gained.
inline Charge update_node(double& voltage, double& charge, const NodeConstants& node) {
  const double gained = charge;
  voltage += charge / node.capacitance;
  voltage *= 1.0 - node.leakage;
  charge = 0.0;
  return {gained, std::fabs(gained)};
}

inline void add(Charge& sum, const Charge& more) {
  sum.amount += more.amount;
  sum.size += more.size;
}

}  // namespace circuit
