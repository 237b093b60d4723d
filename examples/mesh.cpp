// Lesson 10: an unstructured mesh. Heat flows along the edges of a mesh, which is known only when the program runs.
#include <refrain/refrain.hpp>

#include <algorithm>
#include <cstdio>
using namespace refrain;

struct Node { static constexpr Field<double> heat{"heat"}, gained{"gained"}; };
struct Edge { static constexpr Field<int> from{"from"}, to{"to"}; };

constexpr int nodes = 64, edges = 96, pieces = 4;

// A ring of nodes, and an edge across it from every second one.
const Task make_edges{"make_edges", [](Write<int> from, Write<int> to) {
  for (auto e : from.domain()) {
    const int number = static_cast<int>(e);
    from[e] = number < nodes ? number : 2 * (number - nodes);
    to[e] = (from[e] + (number < nodes ? 1 : nodes / 2 + 7)) % nodes;
  }
}};

const Task flow{"flow", [](Fields<Read<int>, Read<int>> ends, Read<double> heat,
                           Reduce<Sum, double> gained) {
  const auto& [from, to] = ends;
  for (auto e : from.domain()) {
    const double amount = 0.1 * (heat[from[e]] - heat[to[e]]);
    gained[to[e]] += amount;
    gained[from[e]] += -amount;
  }
}};

const Task apply{"apply", [](Fields<ReadWrite<double>, ReadWrite<double>> node) {
  const auto& [heat, gained] = node;
  for (auto n : heat.domain()) {
    heat[n] += gained[n];
    gained[n] = 0;
  }
}};

int main(int argc, char** argv) {
  return refrain::run(argc, argv, [](Context& ctx) {
    auto mesh_nodes = ctx.region(Rect1{0, nodes - 1}, Node::heat, Node::gained);
    auto mesh_edges = ctx.region(Rect1{0, edges - 1}, Edge::from, Edge::to);
    auto own_edges = ctx.blocks(mesh_edges, pieces);
    auto own_nodes = ctx.blocks(mesh_nodes, pieces);
    ctx.launch(make_edges, pieces, own_edges[Edge::from], own_edges[Edge::to]);
    ctx.fill(mesh_nodes, Node::heat, 0.0);
    ctx.fill(mesh_nodes, Node::gained, 0.0);
    ctx.fill(own_nodes(0), Node::heat, 100.0);

    // The nodes that a piece of the edges touches: those at its ends.
    auto touched = ctx.unite(ctx.image(mesh_nodes, own_edges, Edge::from),
                             ctx.image(mesh_nodes, own_edges, Edge::to));
    for (int step = 0; step < 200; ++step) {
      ctx.launch(flow, pieces, own_edges[fields(Edge::from, Edge::to)], touched[Node::heat],
                 touched[Node::gained]);
      ctx.launch(apply, pieces, own_nodes[fields(Node::heat, Node::gained)]);
    }

    auto heat = ctx.access<Read>(mesh_nodes[Node::heat]);
    double least = heat[0], most = heat[0], sum = 0;
    for (auto n : heat.domain()) {
      least = std::min(least, heat[n]);
      most = std::max(most, heat[n]);
      sum += heat[n];
    }
    std::printf("after 200 steps: between %.3f and %.3f, %.3f in all\n", least, most, sum);
  });
}
