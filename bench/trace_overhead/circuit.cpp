#include "circuit/pieces.hpp"
#include "trace_overhead/program.hpp"

namespace refrain::bench {

namespace {

using circuit::Charge;
using circuit::Currents;
using circuit::InnerVoltages;
using circuit::Node;
using circuit::NodeConstants;
using circuit::Wire;
using circuit::WireInPiece;

const Task calculate_new_currents{
    "calculate_new_currents",
    [](ReadWrite<Currents>, ReadWrite<InnerVoltages>, Read<WireInPiece>, Read<Point1>, Read<Point1>,
       Read<double>, Read<double>, Read<double>, int) { return Charge{}; }};
const Task distribute_charge{"distribute_charge",
                             [](Read<Currents>, Read<WireInPiece>, Read<Point1>, Read<Point1>,
                                ReadWrite<double>, Reduce<Sum, double>, Reduce<Sum, double>) {}};
const Task update_voltages{
    "update_voltages",
    [](ReadWrite<double>, ReadWrite<double>, ReadWrite<double>, ReadWrite<double>,
       Read<NodeConstants>, Read<NodeConstants>) { return Charge{}; }};
const Task judge{"judge", [](double worst, const Charge&, const Charge&) { return worst; }};

/// Of two charges the first: as cheap as a sum can be.
struct First {
  static constexpr std::string_view name = "first";
  template <class T>
  static constexpr T identity() {
    return {};
  }
  template <class T>
  static constexpr T fold(T a, const T&) {
    return a;
  }
};

circuit::Setup setup_of(int pieces) {
  circuit::Setup setup;
  setup.pieces = pieces;
  setup.nodes = 50;
  setup.wires = 200;
  return setup;
}

class Circuit final : public Program {
 public:
  Circuit(Context& context, int pieces)
      : Program(context),
        pieces_(pieces),
        p_(circuit::make_pieces(context, setup_of(pieces))),
        worst_(context.launch(judge, 0.0, Charge{}, Charge{})) {}

  void occurrence() override {
    const auto wires = context_.launch(
        calculate_new_currents, pieces_, p_.own_wires[Wire::current], p_.own_wires[Wire::inner],
        p_.own_wires[Wire::constants], p_.own_wires[Wire::in], p_.own_wires[Wire::out],
        p_.private_nodes[Node::voltage], p_.shared_nodes[Node::voltage],
        p_.ghost_nodes[Node::voltage], 30);
    context_.launch(distribute_charge, pieces_, p_.own_wires[Wire::current],
                    p_.own_wires[Wire::constants], p_.own_wires[Wire::in], p_.own_wires[Wire::out],
                    p_.private_nodes[Node::charge], p_.shared_nodes[Node::charge],
                    p_.ghost_nodes[Node::charge]);
    const auto nodes = context_.launch(
        update_voltages, pieces_, p_.private_nodes[Node::voltage], p_.shared_nodes[Node::voltage],
        p_.private_nodes[Node::charge], p_.shared_nodes[Node::charge],
        p_.private_nodes[Node::constants], p_.shared_nodes[Node::constants]);
    worst_ = context_.launch(judge, worst_, context_.reduce(nodes, First{}),
                             context_.reduce(wires, First{}));
  }

 private:
  int pieces_;
  circuit::Pieces p_;
  Future<double> worst_;
};

}  // namespace

std::unique_ptr<Program> make_circuit(Context& context, int pieces) {
  return std::make_unique<Circuit>(context, pieces);
}

}  // namespace refrain::bench
