// Random programs of arrays against NumPy: each in several settings, which must agree bit for bit among themselves, and
// with what NumPy has made of the program as nearly as the program says (generate.py).
//
// A failure prints the number of the program, the program as one would write it for NumPy, the setting, and the first
// element that differs. REFRAIN_NUMPY_PROGRAM=NUMBER runs this program alone, in all settings.

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <string>

#include "compare.hpp"
#include "interpreter.hpp"
#include "program.hpp"
#include "settings.hpp"
#include "support/crash_note.hpp"
#include "support/test_budget.hpp"

namespace refrain::test::numpy {
namespace {

// Each block has the programs of a remainder, so that a shorter run still sees all over the file.
constexpr int kBlocks = 12;
constexpr int kLoopBlocks = 4;
constexpr int kSettingsOfEach = 3;
constexpr int kRounds = 40;
/// One in so many programs is repeated.
constexpr int kLoopEvery = 20;
constexpr int kMostFailures = 5;

const Programs& programs() {
  // Another seed's, if one is named.
  const char* other = std::getenv("REFRAIN_NUMPY_FILE");
  static const Programs all(other != nullptr ? other : REFRAIN_NUMPY_FILE);
  return all;
}

Runtimes& runtimes() {
  static Runtimes all;
  return all;
}

/// The program that was asked for, or 0.
int chosen_program() {
  const char* number = std::getenv("REFRAIN_NUMPY_PROGRAM");
  return number == nullptr ? 0 : std::atoi(number);
}

const Setting& setting_of(int number, int turn) {
  const auto& all = all_settings();
  return all[static_cast<std::size_t>(number * kSettingsOfEach + turn) % all.size()];
}

void note(const Program& program, const Setting& setting) {
  set_crash_note("program " + std::to_string(program.number) + ", " + setting.name(), 300);
}

void complain(const Program& program, const Setting& setting, const std::string& wrong) {
  ADD_FAILURE() << "program " << program.number << " (" << programs().origin() << "), "
                << setting.name() << ":\n  " << wrong << "\nin\n"
                << program.readable();
}

/// Runs it so many times in one session, and gives each outcome to `look`, which says whether to go on.
template <class Look>
void run(const Program& program, const Setting& setting, int rounds, Look&& look) {
  note(program, setting);
  const auto body = [&](Context& context) {
    arrays::Session session(context, setting.of_session());
    for (int round = 0; round < rounds; ++round)
      if (!look(execute(program, session))) return;
  };
  try {
    runtimes().of(setting).run(body);
  } catch (const std::exception& error) {
    look(Outcome{{}, std::string("the run failed: ") + error.what()});
  }
}

/// In the settings of some turns; false after a failure.
bool check(const Program& program, int turns) {
  Outcome first;
  bool right = true;
  for (int turn = 0; turn < turns && right; ++turn) {
    const Setting& setting = setting_of(program.number, turn);
    run(program, setting, 1, [&](Outcome outcome) {
      std::string wrong = against_numpy(program, outcome);
      if (wrong.empty() && turn > 0) {
        wrong = against_another(program, first, outcome);
        if (!wrong.empty())
          wrong += "\n  (the other value: " + setting_of(program.number, 0).name() + ")";
      }
      if (!wrong.empty()) complain(program, setting, wrong);
      right = right && wrong.empty();
      if (turn == 0) first = std::move(outcome);
      return right;
    });
  }
  return right;
}

/// Again and again in one session, so that automatic tracing has something to find.
bool check_repeated(const Program& program, Setting setting) {
  Outcome first;
  bool right = true;
  int round = 0;
  run(program, setting, kRounds, [&](Outcome outcome) {
    std::string wrong = against_numpy(program, outcome);
    if (wrong.empty() && round > 0) wrong = against_another(program, first, outcome);
    if (!wrong.empty())
      complain(program, setting, "in round " + std::to_string(round) + ": " + wrong);
    if (round++ == 0) first = std::move(outcome);
    right = right && wrong.empty();
    return right;
  });
  return right;
}

class NumPyPrograms : public testing::TestWithParam<int> {};

TEST_P(NumPyPrograms, AgreeInAllSettings) {
  int failures = 0;
  if (const int number = chosen_program(); number > 0) {
    if (number % kBlocks != GetParam()) GTEST_SKIP();
    check(programs().program(number), static_cast<int>(all_settings().size()));
  } else {
    const auto count = static_cast<std::uint64_t>(programs().count() / kBlocks);
    for (TestBudget budget(count, 5); budget.more() && failures < kMostFailures; budget.next()) {
      const int next = static_cast<int>(budget.seed() - 1) * kBlocks + GetParam();
      failures +=
          !check(programs().program(next == 0 ? programs().count() : next), kSettingsOfEach);
    }
  }
  clear_crash_note();
}

INSTANTIATE_TEST_SUITE_P(Blocks, NumPyPrograms, testing::Range(0, kBlocks));

class NumPyLoops : public testing::TestWithParam<int> {};

TEST_P(NumPyLoops, AgreeInEveryRound) {
  int failures = 0;
  int tried = 0;
  std::uint64_t replayed = 0;
  const auto repeat = [&](int number) {
    Setting setting = setting_of(number / kLoopEvery, number / kLoopEvery % kSettingsOfEach);
    setting.autotrace = true;
    const Program program = programs().program(number);
    const Runtime& runtime = runtimes().of(setting);
    const std::uint64_t before = runtime.counters().autotrace.replayed;
    failures += !check_repeated(program, setting);
    replayed += runtime.counters().autotrace.replayed - before;
    ++tried;
  };
  if (const int number = chosen_program(); number > 0) {
    if (number % kLoopBlocks != GetParam()) GTEST_SKIP();
    repeat(number);
  } else {
    const auto count = static_cast<std::uint64_t>(programs().count() / kLoopEvery / kLoopBlocks);
    for (TestBudget budget(count, 3); budget.more() && failures < kMostFailures; budget.next()) {
      const int which = static_cast<int>(budget.seed() - 1) * kLoopBlocks + GetParam();
      repeat(which * kLoopEvery + 1);
    }
    // Short programs, and yet some are replayed.
    if (tried > 20 && failures == 0) { EXPECT_GT(replayed, 0u); }
  }
  clear_crash_note();
}

INSTANTIATE_TEST_SUITE_P(Blocks, NumPyLoops, testing::Range(0, kLoopBlocks));

}  // namespace
}  // namespace refrain::test::numpy
