#include "openmp.hpp"
#include "peer.hpp"

int main(int argc, char** argv) {
  const pennant::Problem p{peer::Request(peer::variant_of(argc, argv))};
  const int threads = peer::threads_of(argc, argv);
  return pennant::serve([&] { return run_openmp(p.deck, p.mesh, p.chunks, threads); });
}
