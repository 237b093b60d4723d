// Random programs in every setting: results equal to the sequential interpreter's bit for bit, and the
// task graph exactly the naive analysis's (where memory is limited: of programs without children).
//
// A failure prints the seed, the setting and a shrunk program; `fuzz --seed N` shows it again.

#include <gtest/gtest.h>

#include "support/crash_note.hpp"
#include "support/generate.hpp"
#include "support/test_budget.hpp"
#include "support/trial.hpp"

namespace refrain::test::random_programs_test {
namespace {

class RandomPrograms : public testing::TestWithParam<std::size_t> {};

TEST_P(RandomPrograms, AreExactAndSequential) {
  const Setting& setting = settings()[GetParam()];
  // The same programs in the first two settings, others in each of the rest; making a runtime for every
  // program takes longer than the program.
  const std::uint64_t programs = setting.seeded || setting.warm_start ? 300 : 2000;
  const std::uint64_t first = GetParam() < 2 ? 0 : 2000 * GetParam();
  Trials trials;
  std::uint64_t tried = 0;
  for (TestBudget budget(programs, 20); budget.more(); budget.next(), ++tried) {
    const std::uint64_t seed = first + budget.seed();
    set_crash_note("seed " + std::to_string(seed) + ", setting '" + setting.name + "'", 300);
    const std::string wrong = trials.run_and_shrink(generate(seed), setting);
    if (!wrong.empty()) {
      ADD_FAILURE() << wrong;
      break;
    }
  }
  clear_crash_note();
  // Few of them repeat, so that of fewer programs none may.
  if (setting.warm_start && tried == programs) {
    EXPECT_GT(trials.warm_starts().candidates, 0u);
    EXPECT_GT(trials.warm_starts().replays, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(InEverySetting, RandomPrograms,
                         testing::Range<std::size_t>(0, settings().size()),
                         [](const auto& setting) {
                           std::string name;
                           for (const char c : settings()[setting.param].name)
                             if (std::isalnum(static_cast<unsigned char>(c))) name += c;
                           return name;
                         });

}  // namespace
}  // namespace refrain::test::random_programs_test
