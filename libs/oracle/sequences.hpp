#pragma once
// The rules of a grammar while it changes: for each a sequence of nodes, which are uses of symbols.
//
// A sequence is a circle of nodes linked both ways, closed by its rule's *guard*, a node that is no use of anything.
// The guard is the rule: its index is the rule's number, and it counts the rule's uses.
//
// All nodes are in one array, linked by indices; those that are free are kept for the next that are needed. The array
// grows by an eighth, so little of it is unused.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "oracle/grammar.hpp"

namespace refrain::oracle {

using NodeIndex = std::uint32_t;

/// One use of a symbol, `times` times in a row; or the guard of a rule.
struct Node {
  std::uint64_t times;  ///< a guard: how often its rule is used, repetitions counted
  Symbol symbol;        ///< Sequences::kGuard, if it is one
  NodeIndex previous, next;
  NodeIndex chain;  ///< belongs to Couples
};
static_assert(sizeof(Node) == 24);

class Sequences {
 public:
  static constexpr Symbol kGuard = Symbol::rule(Symbol::kMost - 1);
  /// Not an index.
  static constexpr NodeIndex kNone = ~NodeIndex{0};
  /// The `chain` of a node that Couples does not have.
  static constexpr NodeIndex kNotEntered = kNone - 1;

  // References to nodes hold until a node or rule is made.
  Node& operator[](NodeIndex node) { return nodes_[node]; }
  const Node& operator[](NodeIndex node) const { return nodes_[node]; }
  [[nodiscard]] bool is_guard(NodeIndex node) const { return nodes_[node].symbol == kGuard; }
  [[nodiscard]] Symbol symbol(NodeIndex node) const { return nodes_[node].symbol; }
  [[nodiscard]] NodeIndex next(NodeIndex node) const { return nodes_[node].next; }
  [[nodiscard]] NodeIndex previous(NodeIndex node) const { return nodes_[node].previous; }
  /// How often a rule is used. 0 of an event, which has no such count.
  [[nodiscard]] std::uint64_t uses(Symbol symbol) const {
    return symbol.is_rule() ? nodes_[symbol.number()].times : 0;
  }

  /// A rule without symbols that is not used. std::bad_alloc when there is no memory, or after 2^31 nodes.
  Symbol make_rule();
  /// A new node behind `node`. std::bad_alloc as above.
  NodeIndex insert_after(NodeIndex node, Symbol symbol, std::uint64_t times);
  /// Takes first ... last out of their sequence and puts them behind `node`.
  void move_after(NodeIndex node, NodeIndex first, NodeIndex last);
  /// So many times more.
  void give(NodeIndex node, std::uint64_t times);
  /// So many times less; with none left the node is gone.
  void take(NodeIndex node, std::uint64_t times);
  /// Puts the sequence of a rule in the place of its only use. The rule is gone.
  void expand(NodeIndex only_use);

  /// Of rules, the root being one.
  [[nodiscard]] std::size_t rules() const { return rules_; }
  /// Nodes that are no guards.
  [[nodiscard]] std::size_t symbols() const { return symbols_; }
  /// All indices are smaller.
  [[nodiscard]] NodeIndex end() const { return used_; }
  [[nodiscard]] std::size_t bytes() const { return capacity_ * sizeof(Node); }

 private:
  struct Free {
    void operator()(Node* nodes) const { std::free(nodes); }
  };

  NodeIndex allocate();
  void release(NodeIndex node);
  void grow();
  void link(NodeIndex left, NodeIndex right) {
    nodes_[left].next = right;
    nodes_[right].previous = left;
  }

  std::unique_ptr<Node[], Free> nodes_;
  NodeIndex capacity_ = 0;
  NodeIndex used_ = 0;
  NodeIndex free_ = kNone;  // linked by `next`
  std::size_t rules_ = 0;
  std::size_t symbols_ = 0;
};

inline NodeIndex Sequences::allocate() {
  if (free_ != kNone) {
    const NodeIndex node = free_;
    free_ = nodes_[node].next;
    return node;
  }
  if (used_ == capacity_) grow();
  return used_++;
}

inline void Sequences::release(NodeIndex node) {
  nodes_[node].next = free_;
  free_ = node;
}

inline NodeIndex Sequences::insert_after(NodeIndex node, Symbol symbol, std::uint64_t times) {
  const NodeIndex made = allocate(), next = nodes_[node].next;
  nodes_[made] = {times, symbol, node, next, kNotEntered};
  link(node, made);
  link(made, next);
  if (symbol.is_rule()) nodes_[symbol.number()].times += times;
  ++symbols_;
  return made;
}

inline void Sequences::give(NodeIndex node, std::uint64_t times) {
  Node& more = nodes_[node];
  more.times += times;
  if (more.symbol.is_rule()) nodes_[more.symbol.number()].times += times;
}

inline void Sequences::take(NodeIndex node, std::uint64_t times) {
  Node& less = nodes_[node];
  if (less.symbol.is_rule()) nodes_[less.symbol.number()].times -= times;
  less.times -= times;
  if (less.times > 0) return;
  link(less.previous, less.next);
  release(node);
  --symbols_;
}

}  // namespace refrain::oracle
