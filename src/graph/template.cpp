#include "graph/template.hpp"

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
      node.flags |= kAsks;
    }
    if (operation.wakes) node.flags |= kWakes;
    const bool special =
        nested || operation.priority != 0 || operation.processor != 0 || operation.opens_scope;
    if (special) one_thread_may_run_it_ = false;
    if (special || operation.flags != 0) {
      node.flags |= kHeavy;
      operation.heavy = static_cast<std::uint32_t>(heavy_.size());
      heavy_.push_back(i);
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
    if (nodes_[i].inner == 0 || nodes_[i].carried_count != 0) nodes_[i].flags |= kEnds;
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
      const bool heavy = (nodes_[edge.to].flags & kHeavy) != 0;
      successors_[next[edge.from]++] = Successor(edge.to, heavy, edge.kind);
    }
  }
  for (TemplateNode& node : nodes_)
    if (!(node.flags & kEnds)) node.head = successors_[node.first];
}

std::size_t Template::bytes() const {
  return nodes_.capacity() * sizeof(TemplateNode) + successors_.capacity() * sizeof(Successor) +
         operations_.capacity() * sizeof(Operation) +
         (inner_predecessors_.capacity() + sources_.capacity() + heavy_.capacity()) *
             sizeof(std::uint32_t);
}

}  // namespace refrain::exec
