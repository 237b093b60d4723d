#include "parallel.hpp"
#include "peer.hpp"
#include "peers/refrain_options.hpp"

int main(int argc, char** argv) {
  const pennant::Problem p{peer::Request(peer::variant_of(argc, argv))};
  const pennant::State start = first_state(p.deck, p.mesh);
  const refrain::Options options = peer::refrain_options(peer::threads_of(argc, argv));
  return pennant::serve([&] {
    // A runtime of its own: a run meets nothing that an earlier one has left.
    refrain::Runtime runtime(options);
    pennant::Outcome outcome;
    runtime.run([&](refrain::Context& context) {
      apps::Progress progress("pennant", p.deck.time.cycles);
      outcome = run_parallel(context, p.deck, p.mesh, p.chunks, start, true, progress);
    });
    return outcome;
  });
}
