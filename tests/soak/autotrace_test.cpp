// Automatic tracing goes on and on, whatever the stream of launches is like: what it remembers must not add up. Candidates,
// the places where traces begin and are left, histories and recordings all have limits.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/autotrace_settings.hpp"
#include "support/memory_taken.hpp"
#include "support/random.hpp"
#include "support/test_budget.hpp"
#include "support/token_program.hpp"

namespace refrain::test {
namespace {

constexpr std::size_t kRounds = 80, kLaunches = 5000;  ///< of one stream, in all 400,000

class AutotraceSoak : public testing::TestWithParam<std::string> {};

void expect_no_growth(const std::string& name, const Options& options) {
  std::vector<std::uint64_t> letters = letters_of(make_stream(name, kRounds * kLaunches, 1));
  // Launches that are another one are remembered. So there are not ever more, and in no order that repeats.
  for (std::uint64_t& letter : letters) letter = mix(letter, 1) % 2000;
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    const TokenData data(ctx);
    std::size_t done = 0;
    std::size_t settled = 0;
    for (TestBudget budget(kRounds, kRounds / 2 + 1); budget.more(); budget.next()) {
      for (std::size_t i = 0; i < kLaunches; ++i) data.launch(ctx, letters[done * kLaunches + i]);
      ctx.fence();
      if (++done == kRounds / 2) settled = allocated();
    }
    EXPECT_LE(allocated(), settled + (std::size_t{1} << 20)) << name << ", " << done << " rounds";
  });
}

/// Tasks in flight keep their memory for later ones, and how many there were depends on time: few are allowed.
Options soak_options() {
  Options options;
  options.machine = "emulated:cpus=2";
  options.workers = 0;
  options.window = 256;
  options.trace_memory = std::size_t{2} << 20;
  return options;
}

TEST_P(AutotraceSoak, WithDefaultOptions) { expect_no_growth(GetParam(), soak_options()); }

TEST_P(AutotraceSoak, WhereShortRepeatsAreTraces) {
  expect_no_growth(GetParam(), eager(soak_options()));
}

std::vector<std::string> all_streams() {
  std::vector<std::string> names = program_streams;
  names.insert(names.end(), other_streams.begin(), other_streams.end());
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, AutotraceSoak, testing::ValuesIn(all_streams()),
                         [](const auto& stream) { return stream.param; });

}  // namespace
}  // namespace refrain::test
