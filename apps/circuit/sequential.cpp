#include "sequential.hpp"

#include <algorithm>

#include "../common/progress.hpp"
#include "physics.hpp"

namespace circuit {

namespace {

struct Graph {
  std::vector<NodeConstants> nodes;
  std::vector<WireConstants> wires;
  std::vector<Ends> ends;
};

std::size_t at(Coord i) { return static_cast<std::size_t>(i); }

Graph make_graph(const Setup& setup) {
  Graph graph;
  for (Coord n = 0; n < setup.all_nodes(); ++n) graph.nodes.push_back(node_constants(setup, n));
  for (Coord w = 0; w < setup.all_wires(); ++w) {
    graph.wires.push_back(wire_constants(setup, w));
    graph.ends.push_back(wire_ends(setup, w));
  }
  return graph;
}

State first_state(const Setup& setup) {
  State state;
  for (Coord n = 0; n < setup.all_nodes(); ++n) state.voltage.push_back(first_voltage(setup, n));
  state.charge.assign(at(setup.all_nodes()), 0.0);
  state.current.assign(at(setup.all_wires()), Currents{});
  state.inner.assign(at(setup.all_wires()), InnerVoltages{});
  return state;
}

Charge calculate_new_currents(const Setup& setup, const Graph& graph, State& state) {
  Charge gained;
  for (std::size_t w = 0; w < graph.wires.size(); ++w) {
    const Ends& ends = graph.ends[w];
    add(gained,
        advance_wire(state.current[w], state.inner[w], graph.wires[w], state.voltage[at(ends.in)],
                     state.voltage[at(ends.out)], setup.substeps));
  }
  return gained;
}

void distribute_at_once(const Graph& graph, State& state) {
  for (std::size_t w = 0; w < graph.wires.size(); ++w) {
    state.charge[at(graph.ends[w].in)] += charge_to_in(state.current[w]);
    state.charge[at(graph.ends[w].out)] += charge_to_out(state.current[w]);
  }
}

Charge update_voltages(const Graph& graph, State& state) {
  Charge gained;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    add(gained, update_node(state.voltage[n], state.charge[n], graph.nodes[n]));
  return gained;
}

// Distributes charge piece by piece.
class PiecewiseFold {
 public:
  PiecewiseFold(const Setup& setup, const Graph& graph)
      : setup_(setup), graph_(graph), shared_(graph.nodes.size()), sum_(graph.nodes.size(), -0.0) {
    for (Coord w = 0; w < setup.all_wires(); ++w) {
      const Coord out = graph.ends[at(w)].out;
      if (setup.piece_of_node(out) != setup.piece_of_wire(w)) shared_[at(out)] = 1;
    }
  }

  void distribute(State& state) {
    for (Coord piece = 0; piece < setup_.pieces; ++piece) {
      for (Coord w = setup_.first_wire(piece); w < setup_.first_wire(piece + 1); ++w) {
        const Ends& ends = graph_.ends[at(w)];
        contribute(state, ends.in, charge_to_in(state.current[at(w)]));
        contribute(state, ends.out, charge_to_out(state.current[at(w)]));
      }
      for (Coord node : touched_) {
        state.charge[at(node)] += sum_[at(node)];
        sum_[at(node)] = -0.0;
      }
      touched_.clear();
    }
  }

 private:
  // A node that only its own piece touches is written directly.
  void contribute(State& state, Coord node, double charge) {
    if (shared_[at(node)] == 0) {
      state.charge[at(node)] += charge;
      return;
    }
    // A node may come twice; its second fold then adds -0.0, which changes nothing.
    touched_.push_back(node);
    sum_[at(node)] += charge;
  }

  const Setup& setup_;
  const Graph& graph_;
  std::vector<char> shared_;  // does another piece's wire end in this node?
  std::vector<double> sum_;   // of the piece at hand, for shared nodes
  std::vector<Coord> touched_;
};

template <class Distribute>
Outcome run(const Setup& setup, const Graph& graph, State& state, const char* name,
            const Distribute& distribute) {
  Outcome outcome;
  apps::Progress progress(name, setup.warm_up + setup.steps);
  const auto step = [&] {
    const Charge wires = calculate_new_currents(setup, graph, state);
    distribute();
    const Charge nodes = update_voltages(graph, state);
    outcome.imbalance = std::max(outcome.imbalance, imbalance(nodes, wires));
    progress.step();
  };
  for (int t = 0; t < setup.warm_up; ++t) step();
  const apps::Timer timer;
  for (int t = 0; t < setup.steps; ++t) step();
  outcome.seconds = timer.seconds();
  return outcome;
}

}  // namespace

Outcome run_plain_loop(const Setup& setup, State& state) {
  const Graph graph = make_graph(setup);
  state = first_state(setup);
  return run(setup, graph, state, "circuit, plain loop", [&] { distribute_at_once(graph, state); });
}

Outcome run_reference(const Setup& setup, State& state) {
  const Graph graph = make_graph(setup);
  state = first_state(setup);
  PiecewiseFold fold(setup, graph);
  return run(setup, graph, state, "circuit, reference", [&] { fold.distribute(state); });
}

}  // namespace circuit
