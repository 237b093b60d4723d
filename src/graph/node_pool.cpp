#include "graph/node_pool.hpp"

#include <algorithm>
#include <new>

namespace refrain::exec {

namespace {

constexpr std::align_val_t kAlign{64};
constexpr std::size_t kBlockAlign = 64;
constexpr int kBlocksPerSlab = 32;

Node* place_node(void* memory, int size_class) {
  Node* node = new (memory) Node;
  node->size_class = static_cast<std::uint8_t>(size_class);
  node->successor_state.store(Node::kClosed, std::memory_order_relaxed);
  return node;
}

}  // namespace

NodePool::~NodePool() {
  for (const Slab& slab : slabs_) ::operator delete(slab.begin, kAlign);
  for (void* slab : block_slabs_)
    free_surely(slab, kBlocksPerSlab * sizeof(SuccessorBlock), kBlockAlign);
}

Node* NodePool::carve(int size_class) {
  int& current = current_[size_class];
  if (current == 0 || slabs_[current - 1].used == slabs_[current - 1].end) add_slab(size_class);
  Slab& slab = slabs_[current - 1];
  Node* node = place_node(slab.used, size_class);
  slab.used += slab.stride;
  return node;
}

void NodePool::add_slab(int size_class) {
  const std::size_t stride = sizeof(Node) + payload_of(size_class);
  std::size_t& bytes = slab_bytes_[size_class];
  bytes = std::clamp(2 * bytes, kMinSlab, kMaxSlab);
  const std::size_t count = std::max<std::size_t>(1, bytes / stride);
  slabs_.reserve(slabs_.size() + 1);  // nothing throws once the slab is there
  auto* begin = static_cast<std::byte*>(::operator new(count* stride, kAlign));
  slabs_.push_back({begin, begin, begin + count * stride, stride});
  current_[size_class] = static_cast<int>(slabs_.size());
  bytes_ += count * stride;
}

void NodePool::put_blocks(Node& node) {
  for (SuccessorBlock* block = node.overflow; block;) {
    SuccessorBlock* next = block->next;
    block->next = free_blocks_;
    free_blocks_ = block;
    block = next;
  }
  node.overflow = nullptr;
}

SuccessorBlock* NodePool::take_block() noexcept {
  if (!free_blocks_) {
    auto* slab = static_cast<SuccessorBlock*>(
        allocate_surely(kBlocksPerSlab * sizeof(SuccessorBlock), kBlockAlign));
    block_slabs_.push_back(slab);
    bytes_ += kBlocksPerSlab * sizeof(SuccessorBlock);
    for (int i = 0; i < kBlocksPerSlab; ++i) {
      slab[i].next = free_blocks_;
      free_blocks_ = slab + i;
    }
  }
  SuccessorBlock* block = free_blocks_;
  free_blocks_ = block->next;
  block->next = nullptr;
  return block;
}

}  // namespace refrain::exec
