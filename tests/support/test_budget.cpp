#include "support/test_budget.hpp"

#include <cstdlib>

namespace refrain::test {

TestBudget::TestBudget(std::uint64_t in_full, std::uint64_t at_least)
    : in_full_(in_full), at_least_(at_least) {
  if (const char* times = std::getenv("REFRAIN_TEST_TIMES"); times != nullptr && *times != '\0')
    in_full_ *= static_cast<std::uint64_t>(std::atoll(times));
  const char* seconds = std::getenv("REFRAIN_TEST_SECONDS");
  if (seconds == nullptr || *seconds == '\0') return;
  bounded_ = true;
  end_ = std::chrono::steady_clock::now() +
         std::chrono::milliseconds(static_cast<std::int64_t>(std::atof(seconds) * 1000));
}

bool TestBudget::more() const {
  if (tried_ >= in_full_) return false;
  return !bounded_ || tried_ < at_least_ || std::chrono::steady_clock::now() < end_;
}

}  // namespace refrain::test
