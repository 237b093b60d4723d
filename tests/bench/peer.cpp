// A peer for the test of bench/support/peer_process: answers, refuses, hangs or dies as asked.

#include <unistd.h>

#include <cstdlib>

#include "peers/peer.hpp"

int main(int argc, char** argv) {
  if (peer::variant_of(argc, argv) == "unwilling") {
    std::printf("does not want to\n");
    return 0;
  }
  return peer::serve([&](const peer::Request& request) -> double {
    switch (request["do"]) {
      case 0: return static_cast<double>(request["twice"]) * 2;
      case 1: throw std::runtime_error("the check failed");
      case 2: sleep(100); return 0;
      case 3: std::_Exit(1);
      default: return std::getenv("OMP_NUM_THREADS") ? 1 : 0;
    }
  });
}
