// Stable vectors: addresses stay, and readers need no lock while the owner appends.

#include "base/stable_vector.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace refrain::stable_vector_test {
namespace {

/// The element, made if it was not there.
template <class T>
T& add(StableVector<T>& values, std::size_t index) {
  values.ensure(index + 1);
  return values[index];
}

TEST(StableVector, ElementsStayWhereTheyAre) {
  StableVector<int> values;
  std::vector<int*> addresses;
  for (int i = 0; i < 5000; ++i) {
    add(values, static_cast<std::size_t>(i)) = i;
    addresses.push_back(&values[static_cast<std::size_t>(i)]);
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    ASSERT_EQ(&values[i], addresses[i]);
    ASSERT_EQ(values[i], static_cast<int>(i));
  }
}

TEST(StableVector, NewElementsAreValueInitialised) {
  StableVector<int> values;
  values.ensure(100);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(values[i], 0);
}

TEST(StableVector, ClearEndsTheElementsAndStartsAnew) {
  StableVector<std::shared_ptr<int>> values;
  auto kept = std::make_shared<int>(1);
  for (std::size_t i = 0; i < 10; ++i) add(values, i) = kept;
  EXPECT_EQ(kept.use_count(), 11);
  values.clear();
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(add(values, 3), nullptr);
}

TEST(StableVector, ReadersFollowTheOwner) {
  StableVector<std::size_t> values;
  std::atomic<std::size_t> made{0};
  constexpr std::size_t count = 20000;
  std::thread reader([&] {
    for (std::size_t seen = 0; seen < count;) {
      const std::size_t now = made.load(std::memory_order_acquire);
      for (; seen < now; ++seen) ASSERT_EQ(values[seen], seen * 3);
      std::this_thread::yield();
    }
  });
  for (std::size_t i = 0; i < count; ++i) {
    add(values, i) = i * 3;
    made.store(i + 1, std::memory_order_release);
  }
  reader.join();
}

}  // namespace
}  // namespace refrain::stable_vector_test
