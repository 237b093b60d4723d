#include "data/memory_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "data/index_space.hpp"
#include "data/layout.hpp"

namespace refrain::data {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t mapped_from = std::size_t{256} << 10;  // smaller blocks come from the heap

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void* map_pages(std::size_t bytes) {
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return block == MAP_FAILED ? nullptr : block;
}

}  // namespace

class MemoryPool::Source {
 public:
  virtual ~Source() = default;
  virtual void* take(std::size_t bytes, std::size_t alignment) = 0;
  virtual void give(void* block, std::size_t bytes) = 0;
  virtual void trim() {}
  [[nodiscard]] virtual std::uint64_t cached() const { return 0; }
};

class MemoryPool::MainMemory final : public Source {
 public:
  explicit MainMemory(std::uint64_t capacity) : cache_limit_(capacity / 16) {}
  ~MainMemory() override { MainMemory::trim(); }

  void* take(std::size_t bytes, std::size_t alignment) override {
    if (bytes < mapped_from) return std::aligned_alloc(alignment, round_up(bytes, alignment));
    const std::size_t size = round_up(bytes, page);
    if (auto found = free_.find(size); found != free_.end()) {
      void* block = found->second;
      free_.erase(found);
      cached_ -= size;
      return block;
    }
    if (void* block = map_pages(size)) return block;
    trim();
    return map_pages(size);
  }

  void give(void* block, std::size_t bytes) override {
    if (bytes < mapped_from) return std::free(block);
    const std::size_t size = round_up(bytes, page);
    if (cached_ + size > cache_limit_) {
      munmap(block, size);
    } else {
      free_.emplace(size, block);
      cached_ += size;
    }
  }

  void trim() override {
    for (const auto& [size, block] : free_) munmap(block, size);
    free_.clear();
    cached_ = 0;
  }

  [[nodiscard]] std::uint64_t cached() const override { return cached_; }

 private:
  const std::uint64_t cache_limit_;
  std::uint64_t cached_ = 0;
  std::multimap<std::size_t, void*> free_;  // by size
};

// Blocks are multiples of `unit`, but for the one at the end of the arena, so that exactly `capacity`
// bytes fit. Addresses are given out by next fit, which takes never used bytes first
// and then those that were given back longest ago: who used them before is then most likely done, and
// which addresses are taken follows from the order of calls alone.
class MemoryPool::Arena final : public Source {
 public:
  explicit Arena(std::uint64_t capacity)
      : capacity_(capacity), base_(static_cast<std::byte*>(map_pages(std::max(capacity, unit)))) {
    if (base_ == nullptr) throw std::bad_alloc();
    free_.emplace(0, std::max(capacity, unit));
  }
  ~Arena() override { munmap(base_, std::max(capacity_, unit)); }

  void* take(std::size_t bytes, std::size_t alignment) override {
    REFRAIN_ASSERT(alignment <= unit, "a framebuffer aligns its blocks to 64 bytes");
    // Next fit: on from where the last block ended, which may be inside a free stretch.
    auto found = free_.upper_bound(next_);
    if (found != free_.begin()) {
      const auto around = std::prev(found);
      if (around->first + around->second >= next_ + bytes) return carve(around, next_, bytes);
    }
    while (found != free_.end() && found->second < bytes) ++found;
    if (found == free_.end()) {
      found = free_.begin();
      while (found != free_.end() && found->second < bytes) ++found;
      if (found == free_.end()) return nullptr;
    }
    return carve(found, found->first, bytes);
  }

  void give(void* block, std::size_t) override {
    const auto taken =
        blocks_.find(static_cast<std::uint64_t>(static_cast<std::byte*>(block) - base_));
    std::uint64_t start = taken->first, size = taken->second;
    blocks_.erase(taken);
    auto next = free_.lower_bound(start);
    if (next != free_.end() && next->first == start + size) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == start) {
        before->second += size;
        return;
      }
    }
    free_.emplace(start, size);
  }

 private:
  static constexpr std::uint64_t unit = 64;
  using Stretch = std::map<std::uint64_t, std::uint64_t>::iterator;

  void* carve(Stretch stretch, std::uint64_t at, std::size_t bytes) {
    const std::uint64_t start = stretch->first, end = start + stretch->second;
    const std::uint64_t wanted = std::min<std::uint64_t>(round_up(bytes, unit), end - at);
    if (at > start) stretch->second = at - start;
    else free_.erase(stretch);
    if (at + wanted < end) free_.emplace(at + wanted, end - at - wanted);
    blocks_.emplace(at, wanted);
    next_ = at + wanted;
    return base_ + at;
  }

  const std::uint64_t capacity_;
  std::byte* const base_;
  std::map<std::uint64_t, std::uint64_t> free_;              // start to size
  std::uint64_t next_ = 0;                                   // where the search goes on
  std::unordered_map<std::uint64_t, std::uint64_t> blocks_;  // taken: start to size
};

struct MemoryPool::State {
  mutable std::mutex mutex;
  std::unique_ptr<Source> source;
  std::unordered_map<void*, std::size_t> blocks;  // handed out: the sizes asked for
  std::uint64_t used = 0;
  std::uint64_t peak = 0;
};

MemoryPool::MemoryPool(const Memory& memory)
    : capacity_(memory.capacity), state_(std::make_unique<State>()) {
  if (memory.kind == MemoryKind::framebuffer) state_->source = std::make_unique<Arena>(capacity_);
  else state_->source = std::make_unique<MainMemory>(capacity_);
}

MemoryPool::~MemoryPool() {
  REFRAIN_ASSERT(state_->blocks.empty(), "a memory ended while blocks of it were in use");
}

void* MemoryPool::allocate(std::size_t bytes, std::size_t alignment) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (bytes > capacity_ || state.used > capacity_ - bytes) return nullptr;
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  if (state.used + state.source->cached() + size > capacity_) state.source->trim();
  void* block = state.source->take(size, alignment);
  if (block == nullptr) return nullptr;
  state.blocks.emplace(block, bytes);
  state.used += bytes;
  state.peak = std::max(state.peak, state.used);
  return block;
}

void MemoryPool::release(void* block) {
  if (block == nullptr) return;
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  const auto found = state.blocks.find(block);
  REFRAIN_ASSERT(found != state.blocks.end(),
                 "a block is released to the pool that it came from, once");
  state.used -= found->second;
  state.source->give(block, std::max<std::size_t>(found->second, 1));
  state.blocks.erase(found);
}

bool MemoryPool::fits_ever(const IndexSpaceRef& space, std::size_t value_size,
                           const Layout& layout) const {
  return fits_ever(InstanceLayout(*space, value_size, layout).bytes);
}

std::uint64_t MemoryPool::used() const {
  const std::lock_guard lock(state_->mutex);
  return state_->used;
}

std::uint64_t MemoryPool::peak() const {
  const std::lock_guard lock(state_->mutex);
  return state_->peak;
}

std::uint64_t MemoryPool::cached() const {
  const std::lock_guard lock(state_->mutex);
  return state_->source->cached();
}

void MemoryPool::trim() {
  const std::lock_guard lock(state_->mutex);
  state_->source->trim();
}

}  // namespace refrain::data
