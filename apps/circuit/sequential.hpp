#pragma once
// The circuit without a runtime, twice. The plain loop adds a wire's charge to its nodes at once: what
// one would write, and the measure of speed. The reference adds up what each piece brings to the nodes
// that it shares with others first, starting from -0.0, and folds that into the nodes piece by piece:
// the meaning of a reduction in Refrain, and what its result has to equal bit for bit.

#include <vector>

#include "circuit.hpp"

namespace circuit {

struct State {
  std::vector<double> voltage;  ///< per node
  std::vector<double> charge;
  std::vector<Currents> current;  ///< per wire
  std::vector<InnerVoltages> inner;
};

/// How a run went.
struct Outcome {
  double seconds = 0;     ///< of the steps
  double imbalance = 0;   ///< the largest of all steps
  bool identical = true;  ///< equals the reference bit for bit, where one was given
};

/// `state` receives what it ends with.
Outcome run_plain_loop(const Setup& setup, State& state);
Outcome run_reference(const Setup& setup, State& state);

}  // namespace circuit
