#include "memory/memory_pool.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "data/index_space.hpp"
#include "data/layout.hpp"

namespace refrain::memory::memory_pool_test {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

Memory memory_of(MemoryKind kind, std::uint64_t capacity) {
  Memory memory;
  memory.kind = kind;
  memory.capacity = capacity;
  memory.name = "m";
  return memory;
}
Memory system_memory(std::uint64_t capacity) { return memory_of(MemoryKind::system, capacity); }
Memory framebuffer(std::uint64_t capacity) { return memory_of(MemoryKind::framebuffer, capacity); }

/// For somebody who retires nothing.
void* allocate(MemoryPool& pool, std::size_t bytes) {
  std::vector<std::uint64_t> awaited;
  return pool.allocate(bytes, 64, nullptr, awaited);
}

bool aligned(const void* block) { return reinterpret_cast<std::uintptr_t>(block) % 64 == 0; }

TEST(MemoryPool, KeepsToItsCapacity) {
  for (const Memory& memory : {system_memory(mib), framebuffer(mib)}) {
    MemoryPool pool(memory);
    void* a = allocate(pool, mib / 2);
    void* b = allocate(pool, mib / 2);
    ASSERT_TRUE(a != nullptr && b != nullptr);
    EXPECT_TRUE(aligned(a) && aligned(b));
    EXPECT_EQ(allocate(pool, 64), nullptr);
    EXPECT_EQ(pool.usage().used, mib);
    pool.release(a);
    EXPECT_EQ(pool.usage().used, mib / 2);
    EXPECT_EQ(pool.usage().peak, mib);
    EXPECT_EQ(allocate(pool, mib / 2 + 1), nullptr);
    pool.release(b);
    pool.release(nullptr);
    EXPECT_TRUE(pool.fits_ever(mib));
    EXPECT_FALSE(pool.fits_ever(mib + 1));
    void* all = allocate(pool, mib);
    EXPECT_NE(all, nullptr);
    pool.release(all);
    EXPECT_EQ(pool.usage().used, 0U);
  }
}

TEST(MemoryPool, TakesShapes) {
  const MemoryPool pool(framebuffer(8000));
  const auto space = data::IndexSpace::dense(Rect<1>{0, 999});
  EXPECT_TRUE(pool.fits_ever(data::InstanceLayout(*space, 8, {}).bytes));
  EXPECT_FALSE(pool.fits_ever(data::InstanceLayout(*space, 9, {}).bytes));
}

TEST(MemoryPool, NothingIsABlockToo) {
  for (const Memory& memory : {system_memory(mib), framebuffer(mib)}) {
    MemoryPool pool(memory);
    void* a = allocate(pool, 0);
    void* b = allocate(pool, 0);
    EXPECT_NE(a, nullptr);
    EXPECT_NE(a, b);
    EXPECT_EQ(pool.usage().used, 0U);
    pool.release(a);
    pool.release(b);
  }
}

TEST(MemoryPool, UntouchedPagesCostNothing) {
  MemoryPool pool(system_memory(std::uint64_t{1} << 40));
  const auto resident = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = resident();
  constexpr std::size_t size = std::size_t{16} << 30;
  auto* block = static_cast<char*>(allocate(pool, size));
  ASSERT_NE(block, nullptr);
  block[0] = block[size - 1] = 1;
  EXPECT_LT(resident() - before, 64 * 1024) << "KiB";
  pool.release(block);
}

TEST(MemoryPool, LargeBlocksAreReused) {
  MemoryPool pool(system_memory(64 * mib));
  void* first = allocate(pool, 2 * mib);
  std::memset(first, 1, 2 * mib);
  pool.release(first);
  EXPECT_EQ(pool.usage().cached, 2 * mib);
  void* again = allocate(pool, 2 * mib);
  EXPECT_EQ(again, first);
  EXPECT_EQ(pool.usage().cached, 0U);
  void* others[4];
  for (void*& other : others) other = allocate(pool, 2 * mib);
  for (void* other : others) pool.release(other);
  EXPECT_EQ(pool.usage().cached, 4 * mib) << "a sixteenth of the capacity";
  pool.release(again);
}

TEST(MemoryPool, WhatIsKeptMakesRoom) {
  MemoryPool pool(system_memory(32 * mib));
  void* kept = allocate(pool, 2 * mib);
  pool.release(kept);
  void* all = allocate(pool, 32 * mib);
  EXPECT_NE(all, nullptr);
  EXPECT_EQ(pool.usage().cached, 0U);
  pool.release(all);
}

TEST(MemoryPool, AFramebufferFragments) {
  MemoryPool pool(framebuffer(4096));
  void* quarter[4];
  for (void*& q : quarter) q = allocate(pool, 1024);
  pool.release(quarter[0]);
  pool.release(quarter[2]);
  EXPECT_EQ(pool.usage().used, 2048U);
  EXPECT_EQ(allocate(pool, 1025), nullptr) << "half is free, but in two places";
  pool.release(quarter[1]);
  void* most = allocate(pool, 3 * 1024);
  EXPECT_EQ(most, quarter[0]);
  pool.release(most);
  pool.release(quarter[3]);
}

TEST(MemoryPool, AFramebufferHoldsExactlyItsCapacity) {
  MemoryPool pool(framebuffer(1000));
  auto* all = static_cast<char*>(allocate(pool, 1000));
  ASSERT_NE(all, nullptr);
  std::memset(all, 1, 1000);
  pool.release(all);
}

// 20,000 random steps; blocks that are in use never overlap, and what is free again is whole again.
// The places are the same in a second pool.
TEST(MemoryPool, RandomBlocksOfAFramebuffer) {
  constexpr std::size_t capacity = 100'000;
  MemoryPool pool(framebuffer(capacity)), twin(framebuffer(capacity));
  auto* base = static_cast<char*>(allocate(pool, capacity));
  auto* twin_base = static_cast<char*>(allocate(twin, capacity));
  pool.release(base);
  twin.release(twin_base);
  std::map<char*, std::size_t> blocks;
  std::mt19937 random(5);
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0) {
      const std::size_t size = 1 + random() % 4000;
      auto* block = static_cast<char*>(allocate(pool, size));
      auto* other = static_cast<char*>(allocate(twin, size));
      ASSERT_EQ(block == nullptr, other == nullptr);
      if (block == nullptr) continue;
      ASSERT_EQ(block - base, other - twin_base);
      const auto [at, fresh] = blocks.emplace(block, size);
      ASSERT_TRUE(fresh && aligned(block));
      ASSERT_TRUE(base <= block && block + size <= base + capacity);
      if (at != blocks.begin()) { ASSERT_LE(std::prev(at)->first + std::prev(at)->second, block); }
      if (std::next(at) != blocks.end()) { ASSERT_LE(block + size, std::next(at)->first); }
    } else if (!blocks.empty()) {
      auto victim =
          std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random() % blocks.size()));
      pool.release(victim->first);
      twin.release(twin_base + (victim->first - base));
      blocks.erase(victim);
    }
  }
  for (const auto& [block, size] : blocks) {
    pool.release(block);
    twin.release(twin_base + (block - base));
  }
  void* all = allocate(pool, capacity);
  EXPECT_EQ(all, base);
  pool.release(all);
}

TEST(MemoryPool, ManyThreads) {
  for (const Memory& memory : {system_memory(64 * mib), framebuffer(8 * mib)}) {
    MemoryPool pool(memory);
    const auto work = [&pool](unsigned seed) {
      std::mt19937 random(seed);
      for (int i = 0; i < 2000; ++i) {
        const std::size_t size = 1 + random() % (mib / 2);
        auto* block = static_cast<unsigned char*>(allocate(pool, size));
        if (block == nullptr) continue;
        block[0] = block[size - 1] = static_cast<unsigned char>(seed);
        EXPECT_EQ(block[0], seed);
        pool.release(block);
      }
    };
    std::thread other(work, 1);
    work(2);
    other.join();
    EXPECT_EQ(pool.usage().used, 0U);
  }
}

}  // namespace
}  // namespace refrain::memory::memory_pool_test
