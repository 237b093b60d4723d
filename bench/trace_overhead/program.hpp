#pragma once
// Programs that launch and compute nothing: what their time is made of is the runtime. An occurrence is
// what a trace is put around. The stencil and the circuit make the regions, pieces and launches of the
// applications of these names; only the bodies of the tasks are empty.

#include <memory>

#include "refrain/refrain.hpp"

namespace refrain::bench {

class Program {
 public:
  virtual ~Program() = default;
  virtual void occurrence() = 0;
  virtual void between() {}  ///< after each, outside of the trace

 protected:
  explicit Program(Context& context) : context_(context) {}
  Context& context_;
};

/// An iteration of the star stencil in so many tiles: two group launches.
std::unique_ptr<Program> make_stencil(Context& context, int tiles);

/// A step of the circuit in so many pieces: three group launches, of which one reduces and two return
/// values, and a task that is given their sums.
std::unique_ptr<Program> make_circuit(Context& context, int pieces);

/// Figure 9 of the dynamic tracing paper: `steps` steps of 16 independent chains, a single launch each.
inline constexpr int chains = 16;
std::unique_ptr<Program> make_chains(Context& context, int steps);

/// So many single launches, and outside of the trace one that reads what the first of them wrote.
std::unique_ptr<Program> make_interrupted(Context& context, int launches);

/// One launch, then two, and so on to `most`, over and over.
std::unique_ptr<Program> make_varying(Context& context, int most);

}  // namespace refrain::bench
