// Task Bench's graphs on Refrain with several ranks, each with one thread: the application, as it is shipped.
//   peer_patterns_ranks RANKS VARIANT
// Variants: see refrain_options.hpp; "unchecked" is "traced" without the control determinism check. Requests: see
// patterns.hpp.

#include "patterns/parallel.hpp"
#include "peers/patterns.hpp"
#include "peers/ranks.hpp"
#include "peers/refrain_options.hpp"

namespace {

refrain::Options options_of(const std::string& variant) {
  refrain::Options options = peer::refrain_options(1, variant);
  if (variant == "unchecked") options.check_determinism = 0;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  if (!peer::is_rank()) return peer::run_under_mpirun(argv, argc > 1 ? argv[1] : "2");
  const std::string variant = peer::variant_of(argc, argv);
  refrain::Runtime runtime(options_of(variant));  // it begins MPI, for one thread
  return peer::serve_on_ranks([&](const peer::Request& request) {
    patterns::Setup setup = peer::patterns_setup(request);
    setup.trace = peer::has_traces(variant) || variant == "unchecked";
    patterns::Outcome outcome;
    runtime.run([&](refrain::Context& context) {
      patterns::run_parallel(context, peer::short_of(setup));
      outcome = patterns::run_parallel(context, setup);
    });
    if (peer::own_rank() == 0) peer::check_patterns(setup, outcome.digests);
    return outcome.seconds * 1e9;
  });
}
