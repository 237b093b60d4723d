// The table of events that were named before, beside a map.

#include "support/event_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::preload {
namespace {

using test::Random;
using test::TestBudget;

/// With so few hashes that most keys meet others.
struct Key {
  int number;
  friend bool operator==(const Key&, const Key&) = default;
  [[nodiscard]] std::uint64_t hash() const { return static_cast<std::uint64_t>(number % 7); }
};

TEST(EventTable, IsAMap) {
  for (TestBudget budget{200, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    Random random(budget.seed());
    EventTable<Key> table;
    std::map<int, std::uint32_t> map;
    for (std::uint32_t event = 0; event < 400; ++event) {
      const int number = random.below(500);
      const std::uint32_t* const found = table.find({number});
      ASSERT_EQ(found != nullptr, map.contains(number));
      if (found != nullptr) {
        ASSERT_EQ(*found, map[number]);
        continue;
      }
      table.add({number}, event);
      map[number] = event;
    }
  }
}

}  // namespace
}  // namespace refrain::preload
