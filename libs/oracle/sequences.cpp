#include "oracle/sequences.hpp"

#include <algorithm>
#include <new>
#include <type_traits>

namespace refrain::oracle {

void Sequences::grow() {
  static_assert(std::is_trivially_copyable_v<Node>, "the array is moved as bytes");
  constexpr std::uint64_t most = kGuard.number();  // no rule is taken for the guards' mark
  if (capacity_ == most) throw std::bad_alloc();
  const std::uint64_t capacity = std::min(capacity_ + capacity_ / 8 + std::uint64_t{16}, most);
  void* moved = std::realloc(nodes_.get(), capacity * sizeof(Node));
  if (moved == nullptr) throw std::bad_alloc();
  static_cast<void>(nodes_.release());
  nodes_.reset(static_cast<Node*>(moved));
  capacity_ = static_cast<NodeIndex>(capacity);
}

Symbol Sequences::make_rule() {
  const NodeIndex guard = allocate();
  nodes_[guard] = {0, kGuard, guard, guard, kNotEntered};
  ++rules_;
  return Symbol::rule(guard);
}

void Sequences::move_after(NodeIndex node, NodeIndex first, NodeIndex last) {
  link(nodes_[first].previous, nodes_[last].next);
  const NodeIndex next = nodes_[node].next;
  link(node, first);
  link(last, next);
}

void Sequences::expand(NodeIndex only_use) {
  const Node use = nodes_[only_use];
  const NodeIndex guard = use.symbol.number();
  link(use.previous, nodes_[guard].next);
  link(nodes_[guard].previous, use.next);
  release(only_use);
  release(guard);
  --symbols_;
  --rules_;
}

}  // namespace refrain::oracle
