#pragma once
// Where each couple of neighbouring symbols is. A hash table whose entries are the nodes themselves: a couple is
// entered as the node on its left, and nodes whose couples have the same hash value are chained (Node::chain).
// Exponents do not matter. So a couple costs a link in its node and a word or two in the table.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracle/sequences.hpp"

namespace refrain::oracle {

class Couples {
 public:
  explicit Couples(Sequences& nodes) : nodes_(nodes), heads_(kFewest, Sequences::kNone) {}

  /// The node that is entered with this couple, or kNone.
  [[nodiscard]] NodeIndex find(Symbol left, Symbol right) const {
    NodeIndex node = heads_[slot(left, right)];
    while (node != Sequences::kNone &&
           !(nodes_[node].symbol == left && nodes_[nodes_[node].next].symbol == right))
      node = nodes_[node].chain;
    return node;
  }
  [[nodiscard]] bool has(NodeIndex left) const {
    return nodes_[left].chain != Sequences::kNotEntered;
  }
  /// Requires that neither the node nor another one with this couple is entered.
  void enter(NodeIndex left) {
    if (size_ == heads_.size()) grow();
    ++size_;
    link(left);
  }
  /// Its couple is about to change. Nothing, if it is not entered.
  void forget(NodeIndex left) {
    if (!has(left)) return;
    *place_of(left) = nodes_[left].chain;
    nodes_[left].chain = Sequences::kNotEntered;
    --size_;
  }
  /// Another node comes to have the couple of one that is entered, which is about to lose it.
  void hand_over(NodeIndex from, NodeIndex to) {
    *place_of(from) = to;
    nodes_[to].chain = nodes_[from].chain;
    nodes_[from].chain = Sequences::kNotEntered;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return heads_.capacity() * sizeof(NodeIndex); }

 private:
  static constexpr std::size_t kFewest = 16;

  [[nodiscard]] std::size_t slot(Symbol left, Symbol right) const {
    const std::uint64_t key = std::uint64_t{std::bit_cast<std::uint32_t>(left)} << 32 |
                              std::bit_cast<std::uint32_t>(right);
    return key * 0x9e3779b97f4a7c15u >> shift_;
  }
  [[nodiscard]] std::size_t slot_of(NodeIndex left) const {
    return slot(nodes_[left].symbol, nodes_[nodes_[left].next].symbol);
  }
  void link(NodeIndex left) {
    NodeIndex& head = heads_[slot_of(left)];
    nodes_[left].chain = head;
    head = left;
  }
  /// What says that this node is the next in its chain.
  [[nodiscard]] NodeIndex* place_of(NodeIndex left) {
    NodeIndex* place = &heads_[slot_of(left)];
    while (*place != left) place = &nodes_[*place].chain;
    return place;
  }
  void grow();

  Sequences& nodes_;
  std::vector<NodeIndex> heads_;
  int shift_ = 64 - std::countr_zero(kFewest);
  std::size_t size_ = 0;
};

}  // namespace refrain::oracle
