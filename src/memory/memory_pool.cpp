#include "memory/memory_pool.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>

#include "base/assert.hpp"

namespace refrain::memory {

namespace {

constexpr std::size_t page = 4096;

/// Where imagined memories begin: in the middle of what a pointer can say, so that the address of an instance's point zero,
/// which may lie far from its bytes, is one too.
constexpr std::uintptr_t imagined_base = std::uintptr_t{1} << 62;
constexpr std::size_t mapped_from = std::size_t{256} << 10;  // smaller blocks come from the heap

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}
constexpr std::size_t at_least_one(std::size_t bytes) { return std::max<std::size_t>(bytes, 1); }

void* map_pages(std::size_t bytes) {
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return block == MAP_FAILED ? nullptr : block;
}

}  // namespace

/// How blocks are found in one kind of memory. Called under the pool's lock.
class MemoryPool::Source {
 public:
  virtual ~Source() = default;
  virtual void* take(std::size_t bytes, std::size_t alignment, const void* owner,
                     std::vector<std::uint64_t>& awaited) = 0;
  /// A block comes back; where `by` has an owner, as retired.
  virtual void give(const Block& block, const Retirement& by) = 0;
  virtual void settle(const Block& block, const Retirement& by) = 0;
  [[nodiscard]] virtual std::uint64_t cached() const { return 0; }
};

// Where a block comes from does not matter here, only how much there is: who needs the room of what it has
// retired waits for the oldest of that, and gets other addresses.
class MemoryPool::MainMemory final : public Source {
 public:
  explicit MainMemory(const MemoryPool& pool) : pool_(pool) {}
  ~MainMemory() override { trim(); }

  void* take(std::size_t bytes, std::size_t alignment, const void* owner,
             std::vector<std::uint64_t>& awaited) override {
    if (!pool_.find_room(bytes, owner, awaited)) return nullptr;
    bytes = at_least_one(bytes);
    if (cached_ + used_ + bytes > pool_.capacity_) trim();
    const bool mapped = bytes >= mapped_from;
    const std::size_t size = round_up(bytes, mapped ? page : alignment);
    if (const auto kept = mapped ? free_.extract(size) : Free::node_type()) {
      cached_ -= size;
      used_ += bytes;
      return kept.mapped();
    }
    // Blocks of other sizes are not kept beyond a quarter more than was ever used at once.
    most_ = std::max(most_, used_ + size);
    if (used_ + cached_ + size > most_ + most_ / 4) trim();
    const auto get = [&] { return mapped ? map_pages(size) : std::aligned_alloc(alignment, size); };
    void* block = get();
    if (block == nullptr) trim(), block = get();
    if (block != nullptr) used_ += bytes;
    return block;
  }

  void give(const Block& block, const Retirement& by) override {
    if (by.owner == nullptr) settle(block, by);
  }

  void settle(const Block& block, const Retirement&) override {
    const std::size_t bytes = at_least_one(block.size);
    used_ -= bytes;
    if (bytes < mapped_from) return std::free(block.bytes);
    const std::size_t size = round_up(bytes, page);
    if (cached_ + size > pool_.capacity_ / 16) {
      munmap(block.bytes, size);
    } else {
      free_.emplace(size, block.bytes);
      cached_ += size;
    }
  }

  [[nodiscard]] std::uint64_t cached() const override { return cached_; }

 private:
  using Free = std::multimap<std::size_t, void*, std::less<>,
                             SureAllocator<std::pair<const std::size_t, void*>>>;

  /// Gives what is kept for reuse back to the operating system.
  void trim() {
    for (const auto& [size, block] : free_) munmap(block, size);
    free_.clear();
    cached_ = 0;
  }

  const MemoryPool& pool_;
  Free free_;  // by size
  std::uint64_t cached_ = 0;
  std::uint64_t used_ = 0, most_ = 0;  // bytes taken and not settled: now, and at most
};

/// Main memory without bytes: addresses that are never given twice.
class MemoryPool::Imagined final : public Source {
 public:
  explicit Imagined(const MemoryPool& pool) : pool_(pool) {}
  void* take(std::size_t bytes, std::size_t /*alignment*/, const void* owner,
             std::vector<std::uint64_t>& awaited) override {
    if (!pool_.find_room(bytes, owner, awaited)) return nullptr;
    const std::uintptr_t at = std::exchange(next_, next_ + round_up(at_least_one(bytes), page));
    return reinterpret_cast<void*>(at);
  }
  void give(const Block&, const Retirement&) override {}
  void settle(const Block&, const Retirement&) override {}

 private:
  const MemoryPool& pool_;
  std::uintptr_t next_ = imagined_base;
};

bool MemoryPool::find_room(std::size_t bytes, const void* owner,
                           std::vector<std::uint64_t>& awaited) const {
  const std::uint64_t room = capacity_ - used_;
  std::uint64_t taken = retired_bytes_;
  for (auto oldest = retired_.lower_bound(Retirement{owner, 0});
       taken + bytes > room && oldest != retired_.end() && oldest->first.owner == owner; ++oldest) {
    awaited.push_back(oldest->first.number);
    taken -= oldest->second.size;
  }
  return taken + bytes <= room;
}

class MemoryPool::Framebuffer final : public Source {
 public:
  Framebuffer(std::uint64_t capacity, bool imagined)
      : size_(std::max(capacity, Arena::unit)), imagined_(imagined), arena_(size_) {
    base_ = static_cast<std::byte*>(imagined ? reinterpret_cast<void*>(imagined_base)
                                             : map_pages(size_));
    if (base_ == nullptr) throw std::bad_alloc();
  }
  ~Framebuffer() override {
    if (!imagined_) munmap(base_, size_);
  }

  void* take(std::size_t bytes, std::size_t alignment, const void* owner,
             std::vector<std::uint64_t>& awaited) override {
    REFRAIN_ASSERT(alignment <= Arena::unit, "a framebuffer aligns its blocks to 64 bytes");
    const auto at = arena_.take(at_least_one(bytes), owner, awaited);
    return at ? base_ + *at : nullptr;
  }
  void give(const Block& block, const Retirement& by) override {
    arena_.give(offset(block), at_least_one(block.size), by);
  }
  void settle(const Block& block, const Retirement& by) override {
    arena_.settle(offset(block), at_least_one(block.size), by);
  }

 private:
  [[nodiscard]] std::uint64_t offset(const Block& block) const {
    return static_cast<std::uint64_t>(static_cast<std::byte*>(block.bytes) - base_);
  }

  const std::uint64_t size_;
  const bool imagined_;
  std::byte* base_;
  Arena arena_;
};

MemoryPool::MemoryPool(const Memory& memory, const Mover& mover)
    : capacity_(memory.capacity), mover_(mover) {
  const bool imagined = &mover == &imagined_mover();
  if (memory.kind == MemoryKind::framebuffer)
    source_ = std::make_unique<Framebuffer>(capacity_, imagined);
  else if (imagined) source_ = std::make_unique<Imagined>(*this);
  else source_ = std::make_unique<MainMemory>(*this);
}

MemoryPool::~MemoryPool() {
  REFRAIN_ASSERT(blocks_.empty() && retired_.empty(),
                 "a memory ended while blocks of it were in use");
}

void* MemoryPool::allocate(std::size_t bytes, std::size_t alignment, const void* owner,
                           std::vector<std::uint64_t>& awaited) {
  const std::lock_guard lock(mutex_);
  if (bytes > capacity_ || used_ > capacity_ - bytes) return nullptr;
  void* block = source_->take(bytes, alignment, owner, awaited);
  if (block == nullptr) return nullptr;
  blocks_.emplace(block, Block{block, bytes, owner});
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return block;
}

void MemoryPool::release(void* block, const Retirement& by) {
  if (block == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto taken = blocks_.extract(block);
  REFRAIN_ASSERT(taken, "a block is given back to the pool that it came from, once");
  const Block& what = taken.mapped();
  used_ -= what.size;
  source_->give(what, by);
  if (by.owner == nullptr) return;
  retired_.emplace(by, what);
  retired_bytes_ += what.size;
}

void MemoryPool::settle(const Retirement& what) {
  const std::lock_guard lock(mutex_);
  const auto found = retired_.find(what);
  REFRAIN_ASSERT(found != retired_.end(), "what has been retired is settled once");
  settle(found);
}

MemoryPool::Retired::iterator MemoryPool::settle(Retired::iterator retired) {
  source_->settle(retired->second, retired->first);
  retired_bytes_ -= retired->second.size;
  return retired_.erase(retired);
}

void MemoryPool::release_all(const void* owner) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(blocks_, [&](const auto& entry) {
    const Block& block = entry.second;
    if (block.owner != owner) return false;
    used_ -= block.size;
    source_->give(block, {});
    return true;
  });
  auto retired = retired_.lower_bound(Retirement{owner, 0});
  while (retired != retired_.end() && retired->first.owner == owner) retired = settle(retired);
}

MemoryPool::Usage MemoryPool::usage() const {
  const std::lock_guard lock(mutex_);
  return {used_, peak_, source_->cached()};
}

std::uint64_t Arena::end_of(std::uint64_t at, std::uint64_t bytes) const {
  return std::min(round_up(at + bytes, unit), size_);
}

std::optional<std::uint64_t> Arena::take(std::uint64_t bytes, const void* owner,
                                         std::vector<std::uint64_t>& awaited) {
  std::optional<std::uint64_t> at = find(next_, bytes, owner);
  if (!at) at = find(0, bytes, owner);
  if (!at) return at;
  const std::uint64_t end = end_of(*at, bytes);
  cut_out(*at, end, awaited);
  ++taken_;
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
  const auto first = std::prev(holes_.upper_bound(begin));
  for (auto hole = first; hole != holes_.end() && hole->first < end; ++hole)  // what may throw
    if (hole->second.of.owner != nullptr) awaited.push_back(hole->second.of.number);
  for (auto hole = first; hole != holes_.end() && hole->first < end;) {
    const auto [at, what] = *hole;
    const std::uint64_t stop = at + what.size;
    if (at < begin) (hole++)->second.size = begin - at;
    else hole = holes_.erase(hole);
    if (stop > end) hole = holes_.emplace_hint(hole, end, Hole{stop - end, what.of});
  }
}

void Arena::give(std::uint64_t at, std::uint64_t bytes, const Retirement& by) {
  const auto hole = holes_.emplace(at, Hole{end_of(at, bytes) - at, by}).first;
  if (by.owner == nullptr) join(hole);
  // Who comes next finds what the first one found.
  if (--taken_ == 0) next_ = 0;
}

void Arena::settle(std::uint64_t at, std::uint64_t bytes, const Retirement& by) {
  const std::uint64_t end = end_of(at, bytes);
  for (auto hole = holes_.lower_bound(at); hole != holes_.end() && hole->first < end; ++hole) {
    if (hole->second.of != by) continue;
    hole->second.of = {};
    hole = join(hole);
  }
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
