// Task Bench's graphs on Refrain: the application, as it is shipped. Variants: see refrain_options.hpp. Requests: see
// patterns.hpp.

#include "patterns/parallel.hpp"
#include "peers/patterns.hpp"
#include "peers/refrain_options.hpp"

int main(int argc, char** argv) {
  const std::string variant = peer::variant_of(argc, argv);
  refrain::Runtime runtime(peer::refrain_options(peer::threads_of(argc, argv), variant));
  return peer::serve([&](const peer::Request& request) {
    patterns::Setup setup = peer::patterns_setup(request);
    setup.trace = peer::has_traces(variant);
    patterns::Outcome outcome;
    runtime.run([&](refrain::Context& context) {
      patterns::run_parallel(context, peer::short_of(setup));
      outcome = patterns::run_parallel(context, setup);
    });
    peer::check_patterns(setup, outcome.digests);
    return outcome.seconds * 1e9;
  });
}
