#pragma once
// The settings in which behaviour tests run: threads or the seeded scheduler, a wide or the smallest
// window. Sequential semantics promise the same in all of them.

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "refrain/runtime.hpp"

namespace refrain::test {

struct ExecutionSetting {
  int workers = 1;
  std::size_t window = 8192;
  std::optional<std::uint64_t> seed;

  [[nodiscard]] Options options(const std::string& machine = "emulated:cpus=4") const {
    Options chosen;
    chosen.workers = workers;
    chosen.window = window;
    chosen.schedule = seed;
    chosen.machine = machine;
    return chosen;
  }
};

inline std::string name_of_setting(const testing::TestParamInfo<ExecutionSetting>& info) {
  const ExecutionSetting& s = info.param;
  return (s.seed ? "seed" + std::to_string(*s.seed) : "workers" + std::to_string(s.workers)) +
         (s.window < 100 ? "window" + std::to_string(s.window) : "");
}

inline std::vector<ExecutionSetting> all_settings() {
  return {{0, 8192, {}}, {1, 8192, {}}, {3, 8192, {}}, {0, 1, {}}, {3, 1, {}},
          {0, 8192, 1},  {0, 8192, 2},  {0, 8192, 3},  {0, 1, 4}};
}

/// A test that runs in each of these settings.
class InEverySetting : public testing::TestWithParam<ExecutionSetting> {
 protected:
  [[nodiscard]] Options options() const { return GetParam().options(); }
  [[nodiscard]] Options options(const std::string& machine) const {
    return GetParam().options(machine);
  }
  void run(const std::function<void(Context&)>& program) const { run(options(), program); }
  /// With checked accesses.
  void run_checked(const std::function<void(Context&)>& program) const {
    run_checked(options(), program);
  }
  static void run_checked(Options chosen, const std::function<void(Context&)>& program) {
    chosen.check = true;
    run(chosen, program);
  }

 private:
  static void run(const Options& chosen, const std::function<void(Context&)>& program) {
    Runtime runtime(chosen);
    runtime.run(program);
  }
};

#define REFRAIN_IN_EVERY_SETTING(Suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(All, Suite, testing::ValuesIn(::refrain::test::all_settings()), \
                           ::refrain::test::name_of_setting)

/// The text of the error of this type that `f` throws.
template <class E = std::exception, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& error) { return error.what(); } catch (const std::exception& other) {
    return std::string("another exception: ") + other.what();
  }
  return "no error";
}

/// Whether the text has all these parts, in this order; the message says which is missing.
inline testing::AssertionResult mentions(const std::string& text,
                                         const std::vector<std::string>& parts) {
  std::size_t from = 0;
  for (const std::string& part : parts) {
    const std::size_t at = text.find(part, from);
    if (at == std::string::npos)
      return testing::AssertionFailure() << "'" << part << "' is missing (or out of order) in:\n"
                                         << text;
    from = at + part.size();
  }
  return testing::AssertionSuccess();
}

}  // namespace refrain::test
