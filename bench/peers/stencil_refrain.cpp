// The star stencil on Refrain: the application, as it is shipped. Variants: see refrain_options.hpp.
// Requests `n= radius= tile= iterations=`: nanoseconds of all iterations; one more goes before.

#include <cmath>
#include <stdexcept>

#include "peers/peer.hpp"
#include "peers/refrain_options.hpp"
#include "stencil/parallel.hpp"

int main(int argc, char** argv) {
  const std::string variant = peer::variant_of(argc, argv);
  refrain::Runtime runtime(peer::refrain_options(peer::threads_of(argc, argv), variant));
  return peer::serve([&](const peer::Request& request) {
    stencil::Setup setup;
    setup.n = request["n"];
    setup.radius = static_cast<int>(request["radius"]);
    setup.iterations = static_cast<int>(request["iterations"]);
    const std::int64_t tiles = (setup.n + request["tile"] - 1) / request["tile"];
    setup.tiles = {tiles, tiles};
    setup.trace = peer::has_traces(variant);
    stencil::Outcome outcome;
    apps::Progress progress("stencil", setup.warm_up + setup.iterations);
    runtime.run([&](refrain::Context& context) {
      outcome = stencil::run_parallel(context, setup, progress);
    });
    if (!(std::fabs(outcome.norm - setup.expected_norm()) <= 1e-8)) {
      throw std::runtime_error("the stencil's check failed");
    }
    return outcome.seconds * 1e9;
  });
}
