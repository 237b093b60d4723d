#include "parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "../common/host_task.hpp"
#include "physics.hpp"
#include "pieces.hpp"

namespace circuit {

namespace {

using namespace refrain;
using apps::host_task;

// Adds up what the pieces gained.
struct AddCharge {
  static constexpr std::string_view name = "add charge";
  template <class T>
  static constexpr T identity() {
    return {-0.0, -0.0};
  }
  template <class T>
  static constexpr T fold(T a, const T& b) {
    add(a, b);
    return a;
  }
};

// The node argument that a place names.
template <class A, class B>
double voltage_of(Place place, Coord node, const A& own, const A& shared, const B& ghost) {
  switch (place) {
    case Place::private_node: return own[node];
    case Place::shared_node: return shared[node];
    default: return ghost[node];
  }
}

Charge new_currents(const ReadWrite<Currents>& current, const ReadWrite<InnerVoltages>& inner,
                    const Read<WireInPiece>& constants, const Read<Point1>& in,
                    const Read<Point1>& out, const Read<double>& own, const Read<double>& shared,
                    const Read<double>& ghost, int substeps) {
  // A piece's wires lie side by side.
  Currents* const currents = current.values();
  InnerVoltages* const inners = inner.values();
  const WireInPiece* const wires = constants.values();
  const Point1 *const ins = in.values(), *const outs = out.values();
  const std::size_t count = current.domain().volume();
  Charge gained;
  for (std::size_t w = 0; w < count; ++w)
    add(gained, advance_wire(currents[w], inners[w], wires[w].constants,
                             voltage_of(wires[w].in, ins[w], own, shared, ghost),
                             voltage_of(wires[w].out, outs[w], own, shared, ghost), substeps));
  return gained;
}

void contribute(Place place, Coord node, double charge, const ReadWrite<double>& own,
                const Reduce<Sum, double>& shared, const Reduce<Sum, double>& ghost) {
  switch (place) {
    case Place::private_node: own[node] += charge; break;
    case Place::shared_node: shared[node] += charge; break;
    case Place::ghost_node: ghost[node] += charge; break;
  }
}

void distribute(const Read<Currents>& current, const Read<WireInPiece>& constants,
                const Read<Point1>& in, const Read<Point1>& out, const ReadWrite<double>& own,
                const Reduce<Sum, double>& shared, const Reduce<Sum, double>& ghost) {
  const Currents* const currents = current.values();
  const WireInPiece* const wires = constants.values();
  const Point1 *const ins = in.values(), *const outs = out.values();
  const std::size_t count = current.domain().volume();
  for (std::size_t w = 0; w < count; ++w) {
    contribute(wires[w].in, ins[w], charge_to_in(currents[w]), own, shared, ghost);
    contribute(wires[w].out, outs[w], charge_to_out(currents[w]), own, shared, ghost);
  }
}

Charge new_voltages(const ReadWrite<double>& voltage, const ReadWrite<double>& charge,
                    const Read<NodeConstants>& constants) {
  Charge gained;
  for (auto n : voltage.domain()) add(gained, update_node(voltage[n], charge[n], constants[n]));
  return gained;
}

// Of one or more doubles: -0.0 differs from 0.0, and a NaN equals itself.
template <class T>
auto bits(const T& value) {
  return std::bit_cast<std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>>(value);
}

template <class T>
bool equals(Context& ctx, const RegionArgument<T, 1>& argument, const std::vector<T>& expected) {
  const auto values = ctx.access<Read>(argument);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (bits(values[static_cast<Coord>(i)]) != bits(expected[i])) return false;
  return true;
}

}  // namespace

Outcome run_parallel(Context& ctx, const Setup& setup, apps::Progress& progress,
                     const State* expected) {
  const auto calculate_new_currents = host_task(
      "calculate_new_currents",
      [](ReadWrite<Currents> current, ReadWrite<InnerVoltages> inner, Read<WireInPiece> constants,
         Read<Point1> in, Read<Point1> out, Read<double> own, Read<double> shared,
         Read<double> ghost, int substeps) {
        return new_currents(current, inner, constants, in, out, own, shared, ghost, substeps);
      });
  const auto distribute_charge =
      host_task("distribute_charge", [](Read<Currents> current, Read<WireInPiece> constants,
                                        Read<Point1> in, Read<Point1> out, ReadWrite<double> own,
                                        Reduce<Sum, double> shared, Reduce<Sum, double> ghost) {
        distribute(current, constants, in, out, own, shared, ghost);
      });
  const auto update_voltages =
      host_task("update_voltages",
                [&progress](ReadWrite<double> own_voltage, ReadWrite<double> shared_voltage,
                            ReadWrite<double> own_charge, ReadWrite<double> shared_charge,
                            Read<NodeConstants> own_constants, Read<NodeConstants> shared_constants,
                            Point<1> p) {
                  Charge gained = new_voltages(own_voltage, own_charge, own_constants);
                  add(gained, new_voltages(shared_voltage, shared_charge, shared_constants));
                  if (p == 0) progress.step();
                  return gained;
                });
  const auto judge = host_task("judge", [](double worst, const Charge& nodes, const Charge& wires) {
    return std::max(worst, imbalance(nodes, wires));
  });

  const Pieces p = make_pieces(ctx, setup);
  auto worst = ctx.launch(judge, 0.0, Charge{}, Charge{});
  const Trace one_step{"step"};
  const auto step = [&] {
    const auto wires =
        ctx.launch(calculate_new_currents, setup.pieces, p.own_wires[Wire::current],
                   p.own_wires[Wire::inner], p.own_wires[Wire::constants], p.own_wires[Wire::in],
                   p.own_wires[Wire::out], p.private_nodes[Node::voltage],
                   p.shared_nodes[Node::voltage], p.ghost_nodes[Node::voltage], setup.substeps);
    ctx.launch(distribute_charge, setup.pieces, p.own_wires[Wire::current],
               p.own_wires[Wire::constants], p.own_wires[Wire::in], p.own_wires[Wire::out],
               p.private_nodes[Node::charge], p.shared_nodes[Node::charge],
               p.ghost_nodes[Node::charge]);
    const auto nodes = ctx.launch(update_voltages, setup.pieces, p.private_nodes[Node::voltage],
                                  p.shared_nodes[Node::voltage], p.private_nodes[Node::charge],
                                  p.shared_nodes[Node::charge], p.private_nodes[Node::constants],
                                  p.shared_nodes[Node::constants]);
    worst =
        ctx.launch(judge, worst, ctx.reduce(nodes, AddCharge{}), ctx.reduce(wires, AddCharge{}));
  };
  const auto run = [&](int steps) {
    for (int t = 0; t < steps; ++t) {
      if (setup.trace) ctx.trace(one_step, step);
      else step();
    }
    ctx.fence();
  };
  run(setup.warm_up);
  const apps::Timer timer;
  run(setup.steps);

  Outcome outcome{timer.seconds(), worst.get(), true};
  if (expected != nullptr) {
    outcome.identical = equals(ctx, p.nodes[Node::voltage], expected->voltage) &&
                        equals(ctx, p.nodes[Node::charge], expected->charge) &&
                        equals(ctx, p.wires[Wire::current], expected->current) &&
                        equals(ctx, p.wires[Wire::inner], expected->inner);
  }
  return outcome;
}

}  // namespace circuit
