// Jacobi's iteration on Refrain: the application, as it is shipped. With 0 threads it is the plain loop.
// Variants: see refrain_options.hpp. Requests `n= blocks= iterations= warm_up=`: nanoseconds of all iterations but those
// before, which are warm_up.

#include <stdexcept>

#include "jacobi/check.hpp"
#include "jacobi/parallel.hpp"
#include "jacobi/sequential.hpp"
#include "peers/peer.hpp"
#include "peers/refrain_options.hpp"

namespace {

jacobi::Setup setup_of(const peer::Request& request) {
  jacobi::Setup setup;
  setup.n = request["n"];
  setup.blocks = request["blocks"];
  setup.iterations = static_cast<int>(request["iterations"]);
  setup.warm_up = static_cast<int>(request["warm_up"]);
  return setup;
}

double checked_ns(const jacobi::Setup& setup, const jacobi::Outcome& outcome) {
  if (!jacobi::judge_residual(setup, outcome, jacobi::contraction(setup)).right()) {
    throw std::runtime_error("Jacobi's check failed");
  }
  return outcome.seconds * 1e9;
}

int serve_plain_loop() {
  return peer::serve([](const peer::Request& request) {
    const jacobi::Setup setup = setup_of(request);
    return checked_ns(setup, jacobi::run_sequential(setup));
  });
}

int serve_refrain(int threads, const std::string& variant) {
  refrain::Runtime runtime(peer::refrain_options(threads, variant));
  return peer::serve([&](const peer::Request& request) {
    jacobi::Setup setup = setup_of(request);
    setup.trace = peer::has_traces(variant);
    jacobi::Outcome outcome;
    apps::Progress progress("jacobi", setup.warm_up + setup.iterations);
    runtime.run([&](refrain::Context& context) {
      outcome = jacobi::run_parallel(context, setup, progress);
    });
    return checked_ns(setup, outcome);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = peer::threads_of(argc, argv);
  return threads == 0 ? serve_plain_loop() : serve_refrain(threads, peer::variant_of(argc, argv));
}
