// Places in an arena, against a model that looks at every unit of it.

#include "memory/memory_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace refrain::memory::arena_test {
namespace {

constexpr std::uint64_t units = 64;

/// The definition, unit by unit.
class Model {
 public:
  /// The first unit of `count` that `owner` may have, by next fit.
  std::optional<std::uint64_t> take(std::uint64_t count, const void* owner,
                                    std::vector<std::uint64_t>& awaited) {
    std::optional<std::uint64_t> at = find(next_, count, owner);
    if (!at) at = find(0, count, owner);
    if (!at) return at;
    for (std::uint64_t u = *at; u < *at + count; ++u) {
      if (retired_[u].owner != nullptr) awaited.push_back(retired_[u].number);
      retired_[u] = {};
      taken_[u] = true;
    }
    awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
    next_ = *at + count;
    blocks_ += 1;
    return at;
  }
  void end(std::uint64_t at, std::uint64_t count, const Retirement& by) {
    for (std::uint64_t u = at; u < at + count; ++u) {
      taken_[u] = false;
      retired_[u] = by;
    }
    if (--blocks_ == 0) next_ = 0;
  }
  void settle(const Retirement& what) {
    for (Retirement& unit : retired_)
      if (unit == what) unit = {};
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t from, std::uint64_t count,
                                                  const void* owner) const {
    std::uint64_t free = 0;
    for (std::uint64_t u = from; u < units; ++u) {
      const bool mine = retired_[u].owner == nullptr || retired_[u].owner == owner;
      free = taken_[u] || !mine ? 0 : free + 1;
      if (free == count) return u + 1 - count;
    }
    return {};
  }

  bool taken_[units] = {};
  Retirement retired_[units];
  std::uint64_t next_ = 0;
  int blocks_ = 0;
};

struct Block {
  std::uint64_t at, size;
  Retirement by{};
};

template <class T>
T take_one(std::vector<T>& from, std::mt19937_64& random) {
  std::swap(from[random() % from.size()], from.back());
  const T one = from.back();
  from.pop_back();
  return one;
}

TEST(Arena, PlacesAreTheModels) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Arena arena(units * Arena::unit);
    Model model;
    const int owners[3] = {};
    std::vector<Block> blocks, retired;
    for (std::uint64_t step = 0; step < 400; ++step) {
      const void* owner = &owners[random() % 3];
      const std::uint64_t choice = random() % 10;
      if (choice < 5) {
        const std::uint64_t count = 1 + random() % 12;
        const std::uint64_t bytes = count * Arena::unit - random() % Arena::unit;
        std::vector<std::uint64_t> awaited, expected;
        const auto at = arena.take(bytes, owner, awaited);
        const auto there = model.take(count, owner, expected);
        ASSERT_EQ(at.has_value(), there.has_value());
        if (!at) continue;
        ASSERT_EQ(*at, *there * Arena::unit);
        ASSERT_EQ(awaited, expected);
        blocks.push_back({*there, count});
      } else if (choice < 7 && !blocks.empty()) {
        Block block = take_one(blocks, random);
        block.by = {owner, step};
        arena.give(block.at * Arena::unit, block.size * Arena::unit, block.by);
        model.end(block.at, block.size, block.by);
        retired.push_back(block);
      } else if (choice < 8 && !blocks.empty()) {
        const Block block = take_one(blocks, random);
        arena.give(block.at * Arena::unit, block.size * Arena::unit);
        model.end(block.at, block.size, {});
      } else if (!retired.empty()) {
        const Block block = take_one(retired, random);
        arena.settle(block.at * Arena::unit, block.size * Arena::unit, block.by);
        model.settle(block.by);
      }
    }
  }
}

/// The places that one owner gets; when its retirements are settled is `when`'s to say.
std::vector<std::optional<std::uint64_t>> places(unsigned seed, unsigned when) {
  std::mt19937_64 random(seed), settles(when);
  Arena arena(units * Arena::unit);
  const int owner = 0;
  std::vector<std::optional<std::uint64_t>> places;
  std::vector<Block> blocks, retired;
  const auto settle = [&](std::size_t i) {
    arena.settle(retired[i].at, retired[i].size, retired[i].by);
    retired.erase(retired.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (std::uint64_t step = 0; step < 400; ++step) {
    if (random() % 2 == 0) {
      std::vector<std::uint64_t> awaited;
      const std::uint64_t bytes = 1 + random() % 600;
      places.push_back(arena.take(bytes, &owner, awaited));
      if (places.back()) blocks.push_back({*places.back(), bytes});
      for (const std::uint64_t number : awaited)
        settle(static_cast<std::size_t>(
            std::ranges::find(retired, number, [](const Block& block) { return block.by.number; }) -
            retired.begin()));
    } else if (!blocks.empty()) {
      Block block = take_one(blocks, random);
      if (settles() % 4 != 0) block.by = {&owner, step};
      arena.give(block.at, block.size, block.by);
      if (block.by.owner != nullptr) retired.push_back(block);
    }
    while (!retired.empty() && settles() % 3 == 0) settle(settles() % retired.size());
  }
  return places;
}

TEST(Arena, PlacesDoNotDependOnWhenRetirementsAreSettled) {
  for (unsigned seed = 1; seed <= 50; ++seed)
    for (unsigned when = 2; when < 6; ++when)
      EXPECT_EQ(places(seed, 1), places(seed, when)) << "seed " << seed << ", " << when;
}

TEST(Arena, WhatOthersRetireIsTaken) {
  Arena arena(4 * Arena::unit);
  const int mine = 0, theirs = 0;
  std::vector<std::uint64_t> awaited;
  EXPECT_EQ(arena.take(4 * Arena::unit, &mine, awaited), 0U);
  arena.give(0, 4 * Arena::unit, {&mine, 7});
  EXPECT_EQ(arena.take(1, &theirs, awaited), std::nullopt);
  EXPECT_EQ(arena.take(2 * Arena::unit, &mine, awaited), 0U);
  EXPECT_EQ(awaited, std::vector<std::uint64_t>{7});
  EXPECT_EQ(arena.take(1, &theirs, awaited), std::nullopt);
  arena.settle(0, 4 * Arena::unit, {&mine, 7});
  EXPECT_EQ(arena.take(2 * Arena::unit, &theirs, awaited), 2 * Arena::unit);
}

}  // namespace
}  // namespace refrain::memory::arena_test
