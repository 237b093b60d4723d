#pragma once
// How many cases a randomised test tries. In full it tries as many as it says, or so many times as many as the environment
// variable REFRAIN_TEST_TIMES says; where REFRAIN_TEST_SECONDS is set (sanitizer builds, the quick tests) it stops after
// that time, but never before `at_least` cases. Cases are to be generated from seeds counted from a fixed start, so that a
// shorter run is a prefix of a longer one and a failing seed fails again.
//
//   for (TestBudget budget{2000}; budget.more(); budget.next()) check(random_program(budget.seed()));

#include <chrono>
#include <cstdint>

namespace refrain::test {

class TestBudget {
 public:
  explicit TestBudget(std::uint64_t in_full, std::uint64_t at_least = 1);

  [[nodiscard]] bool more() const;
  void next() { ++tried_; }
  /// The number of the case: 1, 2, 3, ...
  [[nodiscard]] std::uint64_t seed() const { return tried_ + 1; }

 private:
  std::uint64_t in_full_;
  std::uint64_t at_least_;
  std::uint64_t tried_ = 0;
  bool bounded_ = false;
  std::chrono::steady_clock::time_point end_{};
};

}  // namespace refrain::test
