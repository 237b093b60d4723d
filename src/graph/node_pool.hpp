#pragma once
// Memory for nodes and their overflow blocks: slabs cut into a few sizes, free lists, last in first
// out so that the warmest node is used next. One pool per scope; only the scope's owner calls it.
//
// Slabs start small (a nested scope has few nodes) and double up to kMaxSlab; a node larger than a
// slab gets one of its own. Nothing is allocated from the system once as many nodes of each size exist
// as the program ever has in flight, and nothing is given back before the end: a NodeRef may point to
// a node long after it has come back. Cost: a few instructions per node.

#include <cstddef>
#include <vector>

#include "base/sure_memory.hpp"
#include "graph/node.hpp"

namespace refrain::exec {

class NodePool {
 public:
  /// 64, 192, 448, 960 bytes of payload (they make the node a multiple of 64), then powers of two.
  static constexpr int kSmallClasses = 4, kClasses = 24;
  static constexpr std::size_t kMinSlab = 4096, kMaxSlab = 256 * 1024;

  static constexpr std::size_t payload_of(int size_class) {
    constexpr std::size_t small[kSmallClasses] = {64, 192, 448, 960};
    return size_class < kSmallClasses ? small[size_class]
                                      : std::size_t{2048} << (size_class - kSmallClasses);
  }

  NodePool() = default;
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;
  ~NodePool();

  static int class_of(std::size_t payload_bytes) {
    int size_class = 0;
    while (payload_bytes > payload_of(size_class)) ++size_class;
    return size_class;
  }

  /// A free node of the class without asking the system, or null.
  Node* take_free(int size_class) {
    Node* node = free_[size_class];
    if (node) free_[size_class] = node->next;
    return node;
  }
  /// A node of the class that has not been used before. Its list of successors is closed.
  Node* carve(int size_class);

  /// Takes a node back, with its overflow blocks.
  void put(Node& node) {
    if (node.overflow) put_blocks(node);
    node.next = free_[node.size_class];
    free_[node.size_class] = &node;
  }

  /// Always there: an edge is never lost.
  SuccessorBlock* take_block() noexcept;

  /// Calls visit(node) for every node ever handed out.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Slab& slab : slabs_) {
      for (std::byte* at = slab.begin; at != slab.used; at += slab.stride) {
        visit(*reinterpret_cast<Node*>(at));
      }
    }
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Slab {
    std::byte* begin;
    std::byte* used;
    std::byte* end;
    std::size_t stride;
  };

  void add_slab(int size_class);
  void put_blocks(Node& node);

  Node* free_[kClasses] = {};
  int current_[kClasses] = {};             ///< slab being cut, per class: its number + 1
  std::size_t slab_bytes_[kClasses] = {};  ///< of the newest slab, per class
  SuccessorBlock* free_blocks_ = nullptr;
  std::vector<Slab> slabs_;
  std::vector<void*, SureAllocator<void*>> block_slabs_;
  std::size_t bytes_ = 0;
};

}  // namespace refrain::exec
