#include "graph/template.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <ranges>
#include <utility>

#include "base/assert.hpp"

namespace refrain::exec {

namespace {

constexpr std::uint32_t kMostPredecessors = (1u << 24) - 1;
using Edges = std::span<const Template::Edge>;

/// What the operations themselves decide of their nodes.
void classify(Template& of, bool nested) {
  for (std::uint32_t i = 0; i < of.size(); ++i) {
    Template::Operation& operation = of.operations[i];
    TemplateNode& node = of.nodes[i];
    REFRAIN_ASSERT(operation.run != nullptr, "an operation has a run for all cases");
    node = {{operation.plain}, operation.plain_operand, 0, {0}, 0, 0, 0};
    if (operation.plain == nullptr) {
      node.run = operation.run;
      node.operand = operation.operand;
      node.flags |= kPerReplay;
    }
    if (operation.wakes) node.flags |= kWakes;
    // What is urgent comes in its turn where all of it is run in order.
    const bool urgent = operation.priority == kUrgent;
    const bool special = nested || (operation.priority != 0 && !urgent) ||
                         operation.processor != 0 || operation.opens_scope ||
                         operation.completes_later;
    if (special) of.one_thread_may_run_it = false;
    if (operation.awaits) {
      node.flags |= kAwaits;
      of.has_awaiting = true;
    }
    if (special || urgent || operation.flags != 0) {
      node.flags |= kHasNode;
      operation.node_number = static_cast<std::uint32_t>(of.with_node.size());
      of.with_node.push_back(i);
    }
  }
}

void count(Template& of, Edges inner, Edges carried) {
  std::vector<std::uint32_t> predecessors(of.size(), 0);
  for (const Template::Edge& edge : inner) {
    REFRAIN_ASSERT(edge.from < edge.to && edge.to < of.size(),
                   "an inner edge leads to a later node");
    ++of.nodes[edge.from].inner;
    ++predecessors[edge.to];
  }
  of.inner_predecessors = predecessors;
  for (const Template::Edge& edge : carried) {
    REFRAIN_ASSERT(edge.from < of.size() && edge.to < of.size(),
                   "a carried edge joins two operations");
    ++of.nodes[edge.from].carried_count;
    ++predecessors[edge.to];
  }
  for (std::uint32_t i = 0; i < of.size(); ++i) {
    TemplateNode& node = of.nodes[i];
    REFRAIN_ASSERT(predecessors[i] <= kMostPredecessors, "an operation has too many predecessors");
    if (predecessors[i] == 0) of.sources.push_back(i);
    node.predecessors = predecessors[i] == 0 ? 1 : predecessors[i] & kMostPredecessors;
    if (node.inner == 0) ++of.sinks;
    if (node.inner == 0 || node.carried_count != 0) node.flags |= kBoundary;
  }
}

void place(Template& of, Edges inner, Edges carried) {
  of.successors.resize(inner.size() + carried.size());
  std::uint32_t end = 0;
  // `first` is where the node's successors end, until they are there: they are put in from the last on. The inner ones
  // are put in first, so the carried ones stand before them: they are lowered first.
  for (TemplateNode& node : of.nodes) node.first = end += node.carried() + node.inner;
  for (const Edges edges : {inner, carried}) {
    for (const Template::Edge& edge : edges | std::views::reverse) {
      const bool has_node = (of.nodes[edge.to].flags & kHasNode) != 0;
      of.successors[--of.nodes[edge.from].first] = Successor(edge.to, has_node);
    }
  }
  for (TemplateNode& node : of.nodes)
    if (!(node.flags & kBoundary)) node.head = of.successors[node.first];
}

}  // namespace

Template::Template(std::vector<Operation> recorded, std::span<const Edge> inner,
                   std::span<const Edge> carried, bool nested)
    : operations(std::move(recorded)), nodes(operations.size()), has_carried(!carried.empty()) {
  REFRAIN_ASSERT(!operations.empty() && operations.size() < kMost,
                 "a template has operations, fewer than 2^30");
  classify(*this, nested);
  count(*this, inner, carried);
  place(*this, inner, carried);
}

std::size_t Template::bytes() const {
  return nodes.capacity() * sizeof(TemplateNode) + successors.capacity() * sizeof(Successor) +
         operations.capacity() * sizeof(Operation) +
         (in_order.capacity() + inner_predecessors.capacity() + sources.capacity() +
          with_node.capacity()) *
             sizeof(std::uint32_t);
}

void Durations::took(std::uint32_t index, std::uint64_t ns) {
  std::uint64_t shortest = shortest_[index].load(std::memory_order_relaxed);
  while ((shortest == 0 || ns < shortest) &&
         !shortest_[index].compare_exchange_weak(shortest, ns, std::memory_order_relaxed)) {}
}

std::size_t PathOrder::bytes() const {
  return nodes_.capacity() * sizeof(TemplateNode) + successors_.capacity() * sizeof(Successor);
}

std::vector<std::uint64_t> PathOrder::remaining(bool to_the_next_end) const {
  std::vector<std::uint64_t> beyond(template_.size());
  if (to_the_next_end) beyond = remaining(false);
  std::vector<std::uint64_t> paths(template_.size());
  for (std::uint32_t i = template_.size(); i-- > 0;) {  // inner edges lead to later operations
    const TemplateNode& node = template_.nodes[i];
    const Successor* const first = template_.successors.data() + node.first;
    std::uint64_t longest = 0;
    for (std::uint32_t s = 0; s < node.carried() + node.inner; ++s)
      longest = std::max(longest, (s < node.carried() ? beyond : paths)[first[s].index()]);
    paths[i] = durations_.of(i) + longest;
  }
  return paths;
}

/// Where there is no memory for it, the template's stays.
void PathOrder::order() noexcept try {
  const std::vector<std::uint64_t> here = remaining(true), next = remaining(false);
  std::uint64_t longest = 0;
  for (std::uint32_t i = 0; i < template_.size(); ++i)
    longest = std::max(longest, durations_.of(i));
  const std::uint64_t about = longest / 2 + 1;
  const auto by = [about](const std::vector<std::uint64_t>& paths) {
    return [&paths, about](Successor successor) { return paths[successor.index()] / about; };
  };
  std::vector<TemplateNode> ordered = template_.nodes;
  successors_.reserve(template_.successors.size());
  for (TemplateNode& node : ordered) {
    const std::uint32_t first = static_cast<std::uint32_t>(successors_.size());
    const Successor* const recorded = template_.successors.data() + node.first;
    successors_.insert(successors_.end(), recorded, recorded + node.carried() + node.inner);
    const std::span<Successor> all = std::span(successors_).subspan(first);
    std::ranges::stable_sort(all.first(node.carried()), std::greater<>(), by(next));
    std::ranges::stable_sort(all.subspan(node.carried()), std::greater<>(), by(here));
    node.first = first;
    if ((node.flags & kBoundary) == 0) node.head = successors_[first];
  }
  nodes_ = std::move(ordered);
} catch (const std::bad_alloc&) {}

}  // namespace refrain::exec
