// The chains as a static oneTBB flow graph of `continue_node<continue_msg>`: built once per size,
// outside the time, and run again for every graph. A floor and not a rival: it analyses nothing.
// The nodes of one run must be done before the next run may start (a node has one counter), so each
// graph is waited for; at the smallest size that wait is part of the number.
// Variants: "" (the default policy, every node is a task) and "lightweight" (a node runs inside the
// message that completes its predecessors).

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>

#include <memory>
#include <vector>

#include "peers/chains.hpp"

namespace {

namespace flow = tbb::flow;

template <class Policy>
class ChainGraph {
 public:
  using Node = flow::continue_node<flow::continue_msg, Policy>;

  ChainGraph(int chains, int steps) : chains_(chains), steps_(steps) {
    for (int s = 0; s < steps; ++s) {
      for (int i = 0; i < chains; ++i) {
        nodes_.push_back(std::make_unique<Node>(graph_, [](const flow::continue_msg&) {}));
        if (s > 0) flow::make_edge(*nodes_[nodes_.size() - 1 - width()], *nodes_.back());
      }
    }
  }

  bool is(const peer::Chains& work) const { return work.chains == chains_ && work.steps == steps_; }

  void run() {
    for (std::size_t i = 0; i < width(); ++i) nodes_[i]->try_put(flow::continue_msg());
    graph_.wait_for_all();
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(chains_); }

  int chains_;
  int steps_;
  flow::graph graph_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

template <class Policy>
int serve() {
  std::unique_ptr<ChainGraph<Policy>> graph;
  return peer::serve_chains(
      [&](const peer::Chains& work) {
        if (graph && graph->is(work)) return;
        graph.reset();
        graph = std::make_unique<ChainGraph<Policy>>(work.chains, work.steps);
      },
      [&](const peer::Chains& work) {
        for (std::int64_t g = 0; g < work.graphs; ++g) graph->run();
      });
}

}  // namespace

int main(int argc, char** argv) {
  const auto threads = static_cast<std::size_t>(peer::threads_of(argc, argv));
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  return peer::variant_of(argc, argv) == "lightweight" ? serve<flow::lightweight>()
                                                       : serve<flow::queueing>();
}
