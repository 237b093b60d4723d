// The caricature of S3D on Refrain: the application, as it is shipped. With 0 threads it is the plain loops.
// Variants: see refrain_options.hpp. Requests `n= down= across= species= substeps= iterations= warm_up=` (tiles down
// and across): nanoseconds of all iterations but those before, which are warm_up.

#include <stdexcept>

#include "peers/peer.hpp"
#include "peers/refrain_options.hpp"
#include "s3d_like/parallel.hpp"
#include "s3d_like/physics.hpp"
#include "s3d_like/sequential.hpp"

namespace {

s3d::Setup setup_of(const peer::Request& request) {
  s3d::Setup setup;
  setup.n = request["n"];
  setup.tiles = {request["down"], request["across"]};
  setup.species = static_cast<int>(request["species"]);
  setup.substeps = static_cast<int>(request["substeps"]);
  setup.iterations = static_cast<int>(request["iterations"]);
  setup.warm_up = static_cast<int>(request["warm_up"]);
  return setup;
}

double checked_ns(const s3d::Outcome& outcome) {
  if (!s3d::keeps_bounds(outcome)) throw std::runtime_error("the check of s3d-like failed");
  return outcome.seconds * 1e9;
}

int serve_plain_loops() {
  return peer::serve([](const peer::Request& request) {
    return checked_ns(s3d::run_sequential(setup_of(request)));
  });
}

int serve_refrain(int threads, const std::string& variant) {
  refrain::Runtime runtime(peer::refrain_options(threads, variant));
  return peer::serve([&](const peer::Request& request) {
    s3d::Setup setup = setup_of(request);
    setup.trace = peer::has_traces(variant);
    s3d::Outcome outcome;
    apps::Progress progress("s3d-like", setup.warm_up + setup.iterations);
    runtime.run(
        [&](refrain::Context& context) { outcome = s3d::run_parallel(context, setup, progress); });
    return checked_ns(outcome);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = peer::threads_of(argc, argv);
  return threads == 0 ? serve_plain_loops() : serve_refrain(threads, peer::variant_of(argc, argv));
}
