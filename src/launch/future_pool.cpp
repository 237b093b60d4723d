#include "launch/future_pool.hpp"

#include <bit>
#include <mutex>
#include <new>

namespace refrain::detail {

namespace {

struct AllPools {
  std::mutex mutex;
  FutureBlocks* first = nullptr;
};

AllPools& all_pools() {
  static auto* pools = new AllPools;  // never destroyed: static futures may end later
  return *pools;
}

}  // namespace

FutureBlocks::FutureBlocks() {
  AllPools& all = all_pools();
  const std::lock_guard lock(all.mutex);
  next_ = all.first;
  if (next_ != nullptr) next_->previous_ = this;
  all.first = this;
}

FutureBlocks::~FutureBlocks() {
  {
    AllPools& all = all_pools();
    const std::lock_guard lock(all.mutex);
    (previous_ != nullptr ? previous_->next_ : all.first) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }
  collect();
  for (Block* list : free_)
    while (list != nullptr) {
      Block* next = list->next;
      ::operator delete(list, std::align_val_t(block_alignment));
      list = next;
    }
}

std::size_t FutureBlocks::live_in_process() {
  AllPools& all = all_pools();
  const std::lock_guard lock(all.mutex);
  std::int64_t live = 0;
  for (const FutureBlocks* pool = all.first; pool != nullptr; pool = pool->next_) {
    const std::int64_t balance = pool->balance_.load(std::memory_order_relaxed);
    // Open: the bias plus the returns. Closed: the returns minus all that were made.
    live += balance > 0 ? pool->made_.load(std::memory_order_relaxed) - (balance - bias) : -balance;
  }
  return static_cast<std::size_t>(live);
}

void* FutureBlocks::take(std::size_t bytes, std::size_t alignment, std::uint8_t& size_class) {
  const auto made = [this](void* block) {
    made_.store(made_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return block;
  };
  if (bytes > largest || alignment > block_alignment) {
    size_class = unpooled;
    return made(::operator new(bytes, std::align_val_t(alignment)));
  }
  const std::size_t k = bytes <= smallest ? 0 : std::bit_width((bytes - 1) / smallest);
  size_class = static_cast<std::uint8_t>(k);
  if (free_[k] == nullptr) collect();
  Block* block = free_[k];
  if (block == nullptr)
    return made(::operator new(smallest << k, std::align_val_t(block_alignment)));
  free_[k] = block->next;
  return made(block);
}

void FutureBlocks::give_back(void* memory, std::uint8_t size_class,
                             std::size_t alignment) noexcept {
  if (size_class == unpooled) {
    ::operator delete(memory, std::align_val_t(alignment));
  } else {
    auto* block = ::new (memory) Block{returned_.load(std::memory_order_relaxed), size_class};
    // release: partner of the acquire in collect; the block is done with.
    while (!returned_.compare_exchange_weak(block->next, block, std::memory_order_release,
                                            std::memory_order_relaxed)) {}
  }
  came_back(1);
}

void FutureBlocks::collect() {
  Block* block = returned_.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    Block* next = block->next;
    block->next = free_[block->size_class];
    free_[block->size_class] = block;
    block = next;
  }
}

void FutureBlocks::came_back(std::int64_t count) noexcept {
  // acq_rel: the last one, which ends the pool, sees what all others did with it.
  if (balance_.fetch_add(count, std::memory_order_acq_rel) + count == 0) delete this;
}

}  // namespace refrain::detail
