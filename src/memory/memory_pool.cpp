#include "memory/memory_pool.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"
#include "data/index_space.hpp"
#include "data/layout.hpp"

namespace refrain::memory {

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

/// What is asked for: at least `bytes`, for which the pool's books have `room` once all that is retired is
/// settled.
struct MemoryPool::Request {
  std::size_t bytes, alignment;
  std::uint64_t room;
  const void* owner;
  std::vector<std::uint64_t>& awaited;
};

class MemoryPool::Source {
 public:
  virtual ~Source() = default;
  virtual void* take(const Request& request) = 0;
  virtual void give(void* block, std::size_t bytes) = 0;
  virtual void retire(void* block, std::size_t bytes, const Retirement& by) = 0;
  virtual void settle(const Retirement& what) = 0;
  /// All that the owner has retired; returns how many blocks that were.
  virtual std::size_t settle_all(const void* owner) = 0;
  virtual void trim() {}
  [[nodiscard]] virtual std::uint64_t cached() const { return 0; }
};

// Where a block comes from does not matter here, only how much there is: who needs the room of what it has
// retired waits for the oldest of that, and gets other addresses.
class MemoryPool::MainMemory final : public Source {
 public:
  explicit MainMemory(std::uint64_t capacity) : cache_limit_(capacity / 16) {}
  ~MainMemory() override { MainMemory::trim(); }

  void* take(const Request& request) override {
    if (!find_room(request)) return nullptr;
    const std::size_t bytes = at_least_one(request.bytes);
    if (cached_ + retired_bytes_ + bytes > request.room) trim();
    const bool mapped = bytes >= mapped_from;
    const std::size_t size = round_up(bytes, mapped ? page : request.alignment);
    if (auto found = free_.find(size); mapped && found != free_.end()) {
      void* block = found->second;
      free_.erase(found);
      cached_ -= size;
      used_ += bytes;
      return block;
    }
    // Blocks of other sizes are not kept beyond a quarter more than was ever used at once.
    most_ = std::max(most_, used_ + size);
    if (used_ + cached_ + size > most_ + most_ / 4) trim();
    const auto get = [&] {
      return mapped ? map_pages(size) : std::aligned_alloc(request.alignment, size);
    };
    void* block = get();
    if (block == nullptr) {
      trim();
      block = get();
    }
    if (block != nullptr) used_ += bytes;
    return block;
  }

  void give(void* block, std::size_t bytes) override {
    bytes = at_least_one(bytes);
    used_ -= bytes;
    if (bytes < mapped_from) return std::free(block);
    const std::size_t size = round_up(bytes, page);
    if (cached_ + size > cache_limit_) {
      munmap(block, size);
    } else {
      free_.emplace(size, block);
      cached_ += size;
    }
  }

  void retire(void* block, std::size_t bytes, const Retirement& by) override {
    retired_.emplace(by, std::pair{block, bytes});
    retired_bytes_ += bytes;
  }

  void settle(const Retirement& what) override {
    const auto [block, bytes] = retired_.take_out(what);
    retired_bytes_ -= bytes;
    give(block, bytes);
  }

  std::size_t settle_all(const void* owner) override {
    return retired_.settle_all(owner, [this](const Retirement& what) { settle(what); });
  }

  void trim() override {
    for (const auto& [size, block] : free_) munmap(block, size);
    free_.clear();
    cached_ = 0;
  }

  [[nodiscard]] std::uint64_t cached() const override { return cached_; }

 private:
  static std::size_t at_least_one(std::size_t bytes) { return std::max<std::size_t>(bytes, 1); }

  [[nodiscard]] bool find_room(const Request& request) const {
    std::uint64_t taken = retired_bytes_;
    for (auto it = retired_.first_of(request.owner);
         taken + request.bytes > request.room && it != retired_.end() &&
         it->first.owner == request.owner;
         ++it) {
      request.awaited.push_back(it->first.number);
      taken -= it->second.second;
    }
    return taken + request.bytes <= request.room;
  }

  const std::uint64_t cache_limit_;
  std::uint64_t cached_ = 0;
  std::uint64_t used_ = 0, most_ = 0;  // bytes asked for and not given back: now, and at most
  std::multimap<std::size_t, void*, std::less<>, SureAllocator<std::pair<const std::size_t, void*>>>
      free_;  // by size
  std::uint64_t retired_bytes_ = 0;
  RetiredBlocks<std::pair<void*, std::size_t>> retired_;
};

class MemoryPool::Framebuffer final : public Source {
 public:
  explicit Framebuffer(std::uint64_t capacity)
      : size_(std::max(capacity, Arena::unit)),
        base_(static_cast<std::byte*>(map_pages(size_))),
        arena_(size_) {
    if (base_ == nullptr) throw std::bad_alloc();
  }
  ~Framebuffer() override { munmap(base_, size_); }

  void* take(const Request& request) override {
    REFRAIN_ASSERT(request.alignment <= Arena::unit, "a framebuffer aligns its blocks to 64 bytes");
    const auto at =
        arena_.take(std::max<std::size_t>(request.bytes, 1), request.owner, request.awaited);
    return at ? base_ + *at : nullptr;
  }
  void give(void* block, std::size_t) override { arena_.release(offset(block)); }
  void retire(void* block, std::size_t, const Retirement& by) override {
    arena_.retire(offset(block), by);
  }
  void settle(const Retirement& what) override { arena_.settle(what); }
  std::size_t settle_all(const void* owner) override { return arena_.settle_all(owner); }

 private:
  [[nodiscard]] std::uint64_t offset(void* block) const {
    return static_cast<std::uint64_t>(static_cast<std::byte*>(block) - base_);
  }

  const std::uint64_t size_;
  std::byte* const base_;
  Arena arena_;
};

struct MemoryPool::State {
  mutable std::mutex mutex;
  std::unique_ptr<Source> source;
  struct Block {
    std::size_t bytes;  // asked for
    const void* owner;
  };
  std::unordered_map<void*, Block, std::hash<void*>, std::equal_to<>,
                     SureAllocator<std::pair<void* const, Block>>>
      blocks;               // handed out
  std::size_t retired = 0;  // blocks not settled
  std::uint64_t used = 0;
  std::uint64_t peak = 0;

  /// A block comes back; the size asked for.
  std::size_t strike_out(void* block) {
    const auto found = blocks.find(block);
    REFRAIN_ASSERT(found != blocks.end(),
                   "a block is given back to the pool that it came from, once");
    const std::size_t bytes = found->second.bytes;
    used -= bytes;
    blocks.erase(found);
    return bytes;
  }
};

MemoryPool::MemoryPool(const Memory& memory, const Mover& mover)
    : capacity_(memory.capacity), mover_(mover), state_(std::make_unique<State>()) {
  if (memory.kind == MemoryKind::framebuffer)
    state_->source = std::make_unique<Framebuffer>(capacity_);
  else state_->source = std::make_unique<MainMemory>(capacity_);
}

MemoryPool::~MemoryPool() {
  REFRAIN_ASSERT(state_->blocks.empty() && state_->retired == 0,
                 "a memory ended while blocks of it were in use");
}

void* MemoryPool::allocate(std::size_t bytes, std::size_t alignment, const void* owner,
                           std::vector<std::uint64_t>& awaited) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (bytes > capacity_ || state.used > capacity_ - bytes) return nullptr;
  void* block = state.source->take({bytes, alignment, capacity_ - state.used, owner, awaited});
  if (block == nullptr) return nullptr;
  state.blocks.emplace(block, State::Block{bytes, owner});
  state.used += bytes;
  state.peak = std::max(state.peak, state.used);
  return block;
}

void* MemoryPool::allocate(std::size_t bytes, std::size_t alignment) {
  std::vector<std::uint64_t> awaited;
  return allocate(bytes, alignment, nullptr, awaited);
}

void MemoryPool::release(void* block) {
  if (block == nullptr) return;
  const std::lock_guard lock(state_->mutex);
  state_->source->give(block, state_->strike_out(block));
}

void MemoryPool::retire(void* block, const Retirement& by) {
  const std::lock_guard lock(state_->mutex);
  state_->source->retire(block, state_->strike_out(block), by);
  ++state_->retired;
}

void MemoryPool::settle(const Retirement& what) {
  const std::lock_guard lock(state_->mutex);
  state_->source->settle(what);
  --state_->retired;
}

void MemoryPool::release_all(const void* owner) noexcept {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  std::erase_if(state.blocks, [&](const auto& entry) {
    const auto& [block, what] = entry;
    if (what.owner != owner) return false;
    state.used -= what.bytes;
    state.source->give(block, what.bytes);
    return true;
  });
  state.retired -= state.source->settle_all(owner);
}

bool MemoryPool::fits_ever(const data::IndexSpaceRef& space, std::size_t value_size,
                           const Layout& layout) const {
  return fits_ever(data::InstanceLayout(*space, value_size, layout).bytes);
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

std::optional<std::uint64_t> Arena::take(std::uint64_t bytes, const void* owner,
                                         std::vector<std::uint64_t>& awaited) {
  std::optional<std::uint64_t> at = find(next_, bytes, owner);
  if (!at) at = find(0, bytes, owner);
  if (!at) return at;
  // The last block may be cut short by the end, so that exactly `size` bytes fit.
  const std::uint64_t end = std::min((*at + bytes + unit - 1) / unit * unit, size_);
  cut_out(*at, end, awaited);
  blocks_.emplace(*at, end - *at);
  next_ = end;
  return at;
}

// Holes that touch are one to the owner, whichever of them are settled: what it finds must not depend on that.
std::optional<std::uint64_t> Arena::find(std::uint64_t from, std::uint64_t bytes,
                                         const void* owner) const {
  auto hole = holes_.upper_bound(from);
  if (hole != holes_.begin()) --hole;
  std::uint64_t begin = from, end = from;  // of what is free here
  for (; hole != holes_.end(); ++hole) {
    const auto& [at, what] = *hole;
    if (at + what.size < from || (what.of.owner != nullptr && what.of.owner != owner)) continue;
    if (at > end) begin = at;
    end = at + what.size;
    if (end - begin >= bytes) return begin;
  }
  return {};
}

void Arena::cut_out(std::uint64_t begin, std::uint64_t end, std::vector<std::uint64_t>& awaited) {
  // First what may throw.
  for (auto hole = std::prev(holes_.upper_bound(begin)); hole != holes_.end() && hole->first < end;
       ++hole)
    if (hole->second.of.owner != nullptr) awaited.push_back(hole->second.of.number);
  for (auto hole = std::prev(holes_.upper_bound(begin));
       hole != holes_.end() && hole->first < end;) {
    const auto [at, what] = *hole;
    const std::uint64_t stop = at + what.size;
    if (at < begin) (hole++)->second.size = begin - at;
    else hole = holes_.erase(hole);
    if (stop > end) hole = holes_.emplace_hint(hole, end, Hole{stop - end, what.of});
  }
}

std::uint64_t Arena::give_up(std::uint64_t at) {
  const auto block = blocks_.find(at);
  REFRAIN_ASSERT(block != blocks_.end(), "a block is given up once, by who took it");
  const std::uint64_t size = block->second;
  blocks_.erase(block);
  // Who comes next finds what the first one found.
  if (blocks_.empty()) next_ = 0;
  return size;
}

void Arena::retire(std::uint64_t at, const Retirement& by) {
  const std::uint64_t size = give_up(at);
  holes_.emplace(at, Hole{size, by});
  retired_.emplace(by, std::pair{at, at + size});
}

void Arena::release(std::uint64_t at) {
  const std::uint64_t size = give_up(at);
  join(holes_.emplace(at, Hole{size, {}}).first);
}

void Arena::settle(const Retirement& what) {
  const auto [begin, end] = retired_.take_out(what);
  for (auto hole = holes_.lower_bound(begin); hole != holes_.end() && hole->first < end; ++hole) {
    if (hole->second.of != what) continue;
    hole->second.of = {};
    hole = join(hole);
  }
}

std::size_t Arena::settle_all(const void* owner) {
  return retired_.settle_all(owner, [this](const Retirement& what) { settle(what); });
}

// Puts a hole of everybody's together with its neighbours.
Arena::Holes::iterator Arena::join(Holes::iterator hole) {
  const auto everybodys = [this](Holes::iterator other) {
    return other != holes_.end() && other->second.of.owner == nullptr;
  };
  if (const auto next = std::next(hole);
      everybodys(next) && hole->first + hole->second.size == next->first) {
    hole->second.size += next->second.size;
    holes_.erase(next);
  }
  if (hole == holes_.begin()) return hole;
  const auto before = std::prev(hole);
  if (!everybodys(before) || before->first + before->second.size != hole->first) return hole;
  before->second.size += hole->second.size;
  holes_.erase(hole);
  return before;
}

}  // namespace refrain::memory
