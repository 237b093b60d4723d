#pragma once
// What both peers of PENNANT answer: `run=1` runs the cycles from the start and says how many ns one took, the first apart;
// `first=1` says how long the first of that run took.
//   peer_pennant_SYSTEM THREADS mesh=M x=X y=Y chunk=C cycles=N       mesh: 0 rect, 1 random polygons

#include <string>

#include "generators.hpp"
#include "mesh.hpp"
#include "peers/peer.hpp"
#include "state.hpp"

namespace pennant {

struct Problem {
  explicit Problem(const peer::Request& shape)
      : deck(make_deck(shape)),
        mesh(make_mesh(deck)),
        chunks(cut(mesh, static_cast<Index>(shape["chunk"]))) {}

  const Deck deck;
  const Mesh mesh;
  const Chunks chunks;

 private:
  static Deck make_deck(const peer::Request& shape) {
    const auto x = static_cast<Index>(shape["x"]), y = static_cast<Index>(shape["y"]);
    Deck deck = shape["mesh"] == 0 ? blast(x, y) : implosion(MeshKind::random, x, y);
    deck.time.cycles = static_cast<int>(shape["cycles"]);
    return deck;
  }
};

/// run(): an Outcome.
template <class Run>
int serve(const Run& run) {
  Outcome last;
  return peer::serve([&](const peer::Request& request) {
    if (request.has("first")) return last.first_cycle * 1e9;
    last = run();
    return (last.seconds - last.first_cycle) * 1e9 /
           (last.last.cycle - 1);  // it may end before `cycles`
  });
}

}  // namespace pennant
