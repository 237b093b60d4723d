// The chains as a static graph (peers/static_graph.hpp): built once per size, outside the time, and
// run again for every graph; as with oneTBB, a run is waited for before the next one starts.

#include <memory>

#include "peers/chains.hpp"
#include "peers/static_graph.hpp"

namespace {

std::unique_ptr<peer::StaticGraph> make_graph(const peer::Chains& work) {
  const auto width = static_cast<std::uint32_t>(work.chains);
  const std::uint32_t count = width * static_cast<std::uint32_t>(work.steps);
  std::vector<peer::StaticGraph::Edge> edges;
  for (std::uint32_t node = width; node < count; ++node) edges.emplace_back(node - width, node);
  return std::make_unique<peer::StaticGraph>(
      count, [](void*) {}, nullptr, edges);
}

}  // namespace

int main(int argc, char** argv) {
  peer::StaticExecutor executor(peer::threads_of(argc, argv));
  std::unique_ptr<peer::StaticGraph> graph;
  int chains = 0;
  int steps = 0;
  return peer::serve_chains(
      [&](const peer::Chains& work) {
        if (work.chains == chains && work.steps == steps) return;
        graph = make_graph(work);
        chains = work.chains;
        steps = work.steps;
      },
      [&](const peer::Chains& work) {
        for (std::int64_t g = 0; g < work.graphs; ++g) executor.run(*graph);
      });
}
