#pragma once
// How peers start the runtime: `threads` counts all threads that issue or execute, so there is one
// worker fewer; nothing else is changed from the defaults.

#include "refrain/options.hpp"

namespace peer {

inline refrain::Options refrain_options(int threads) {
  refrain::Options options;
  options.workers = threads - 1;
  return options;
}

}  // namespace peer
