// The circuit on Refrain: the application, as it is shipped. With 0 threads it is the plain loop.
// Variants: see refrain_options.hpp. Requests `pieces= nodes= wires= steps= substeps=` (nodes and wires of a piece): nanoseconds of all
// steps.

#include <stdexcept>
#include <string>

#include "circuit/parallel.hpp"
#include "peers/peer.hpp"
#include "peers/refrain_options.hpp"

namespace {

circuit::Setup setup_of(const peer::Request& request) {
  circuit::Setup setup;
  setup.pieces = request["pieces"];
  setup.nodes = request["nodes"];
  setup.wires = request["wires"];
  setup.steps = static_cast<int>(request["steps"]);
  setup.substeps = static_cast<int>(request["substeps"]);
  return setup;
}

double checked_ns(const circuit::Outcome& outcome) {
  if (!(outcome.imbalance <= circuit::largest_imbalance)) {
    throw std::runtime_error("the circuit's check failed");
  }
  return outcome.seconds * 1e9;
}

int serve_plain_loop() {
  return peer::serve([](const peer::Request& request) {
    circuit::State state;
    return checked_ns(circuit::run_plain_loop(setup_of(request), state));
  });
}

int serve_refrain(int threads, const std::string& variant) {
  refrain::Runtime runtime(peer::refrain_options(threads, variant));
  return peer::serve([&](const peer::Request& request) {
    circuit::Setup setup = setup_of(request);
    setup.trace = peer::has_traces(variant);
    circuit::Outcome outcome;
    apps::Progress progress("circuit", setup.steps);
    runtime.run([&](refrain::Context& context) {
      outcome = circuit::run_parallel(context, setup, progress);
    });
    return checked_ns(outcome);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = peer::threads_of(argc, argv);
  return threads == 0 ? serve_plain_loop() : serve_refrain(threads, peer::variant_of(argc, argv));
}
