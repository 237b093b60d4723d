#include "graph/template.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <span>
#include <utility>

#include "base/assert.hpp"

namespace refrain::exec {

namespace {
constexpr std::uint32_t kMostPredecessors = (1u << 24) - 1;
}

Template::Template(std::vector<Operation> operations, std::span<const Edge> inner,
                   std::span<const Edge> carried, bool nested)
    : nodes_(operations.size()),
      operations_(std::move(operations)),
      inner_predecessors_(operations_.size(), 0),
      has_carried_(!carried.empty()) {
  REFRAIN_ASSERT(!operations_.empty() && operations_.size() < kMost,
                 "a template has operations, fewer than 2^30");
  classify(nested);
  count(inner, carried);
  place(inner, carried);
}

void Template::classify(bool nested) {
  for (std::uint32_t i = 0; i < size(); ++i) {
    Operation& operation = operations_[i];
    TemplateNode& node = nodes_[i];
    node = {{operation.plain}, operation.operand, 0, {0}, 0, 0, 0};
    if (operation.plain == nullptr) {
      node.run = operation.run;
      node.flags |= kPerReplay;
    }
    if (operation.wakes) node.flags |= kWakes;
    const bool special = nested || operation.priority != 0 || operation.processor != 0 ||
                         operation.opens_scope || operation.completes_later;
    if (special) one_thread_may_run_it_ = false;
    if (special || operation.flags != 0) {
      node.flags |= kHasNode;
      operation.node_number = static_cast<std::uint32_t>(with_node_.size());
      with_node_.push_back(i);
    }
  }
}

void Template::count(std::span<const Edge> inner, std::span<const Edge> carried) {
  std::vector<std::uint32_t> predecessors(nodes_.size(), 0);
  for (const Edge& edge : inner) {
    REFRAIN_ASSERT(edge.from < edge.to && edge.to < size(), "an inner edge leads to a later node");
    ++nodes_[edge.from].inner;
    ++inner_predecessors_[edge.to];
    ++predecessors[edge.to];
  }
  for (const Edge& edge : carried) {
    REFRAIN_ASSERT(edge.from < size() && edge.to < size(), "a carried edge joins two operations");
    ++nodes_[edge.from].carried_count;
    ++predecessors[edge.to];
  }
  for (std::uint32_t i = 0; i < size(); ++i) {
    REFRAIN_ASSERT(predecessors[i] <= kMostPredecessors, "an operation has too many predecessors");
    if (predecessors[i] == 0) sources_.push_back(i);
    nodes_[i].predecessors = predecessors[i] == 0 ? 1 : predecessors[i] & kMostPredecessors;
    if (nodes_[i].inner == 0) ++sinks_;
    if (nodes_[i].inner == 0 || nodes_[i].carried_count != 0) nodes_[i].flags |= kBoundary;
  }
}

void Template::place(std::span<const Edge> inner, std::span<const Edge> carried) {
  successors_.resize(inner.size() + carried.size());
  std::vector<std::uint32_t> next(nodes_.size());
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i < size(); ++i) {
    nodes_[i].first = next[i] = end;
    end += nodes_[i].carried() + nodes_[i].inner;
  }
  // Carried ones first: they are lowered first.
  for (const auto edges : {carried, inner}) {
    for (const Edge& edge : edges) {
      const bool has_node = (nodes_[edge.to].flags & kHasNode) != 0;
      successors_[next[edge.from]++] = Successor(edge.to, has_node, edge.kind);
    }
  }
  for (TemplateNode& node : nodes_)
    if (!(node.flags & kBoundary)) node.head = successors_[node.first];
}

std::size_t Template::bytes() const {
  return nodes_.capacity() * sizeof(TemplateNode) + successors_.capacity() * sizeof(Successor) +
         operations_.capacity() * sizeof(Operation) +
         (inner_predecessors_.capacity() + sources_.capacity() + with_node_.capacity()) *
             sizeof(std::uint32_t);
}

bool PathOrder::times(std::uint32_t number, std::uint32_t oldest) {
  if (timed_ < kTimedReplays) {
    ++timed_;
    last_ = number;
    return true;
  }
  if (nodes_.empty() && oldest > last_) order();
  return false;
}

void PathOrder::took(std::uint32_t index, std::uint64_t ns) {
  std::uint64_t shortest = durations_[index].load(std::memory_order_relaxed);
  while ((shortest == 0 || ns < shortest) &&
         !durations_[index].compare_exchange_weak(shortest, ns, std::memory_order_relaxed)) {}
}

std::size_t PathOrder::bytes() const {
  return nodes_.capacity() * sizeof(TemplateNode) + successors_.capacity() * sizeof(Successor) +
         template_.size() * sizeof(std::uint64_t);
}

std::vector<std::uint64_t> PathOrder::remaining(bool to_the_next_end) const {
  std::vector<std::uint64_t> beyond(template_.size());
  if (to_the_next_end) beyond = remaining(false);
  std::vector<std::uint64_t> paths(template_.size());
  for (std::uint32_t i = template_.size(); i-- > 0;) {  // inner edges lead to later operations
    const TemplateNode& node = template_.node(i);
    const Successor* const first = template_.successors() + node.first;
    std::uint64_t longest = 0;
    for (std::uint32_t s = 0; s < node.carried() + node.inner; ++s)
      longest = std::max(longest, (s < node.carried() ? beyond : paths)[first[s].index()]);
    paths[i] = durations_[i].load(std::memory_order_relaxed) + longest;
  }
  return paths;
}

/// Where there is no memory for it, the template's stays.
void PathOrder::order() noexcept try {
  const std::vector<std::uint64_t> here = remaining(true), next = remaining(false);
  std::uint64_t longest = 0;
  for (std::uint32_t i = 0; i < template_.size(); ++i)
    longest = std::max(longest, durations_[i].load(std::memory_order_relaxed));
  const std::uint64_t about = longest / 2 + 1;
  const auto by = [about](const std::vector<std::uint64_t>& paths) {
    return [&paths, about](Successor successor) { return paths[successor.index()] / about; };
  };
  std::vector<TemplateNode> nodes(template_.nodes(), template_.nodes() + template_.size());
  std::vector<Successor> successors;
  for (TemplateNode& node : nodes) {
    const std::uint32_t first = static_cast<std::uint32_t>(successors.size());
    const Successor* const recorded = template_.successors() + node.first;
    successors.insert(successors.end(), recorded, recorded + node.carried() + node.inner);
    const std::span<Successor> all = std::span(successors).subspan(first);
    std::ranges::stable_sort(all.first(node.carried()), std::greater<>(), by(next));
    std::ranges::stable_sort(all.subspan(node.carried()), std::greater<>(), by(here));
    node.first = first;
    if ((node.flags & kBoundary) == 0) node.head = successors[first];
  }
  nodes_ = std::move(nodes);
  successors_ = std::move(successors);
} catch (const std::bad_alloc&) {}

}  // namespace refrain::exec
