#pragma once
// Expects that a program ends with an error of a given type whose text says what is needed, and that the
// runtime is as good as before afterwards: nothing runs any more, no memory is held.

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>

#include "refrain/refrain.hpp"

namespace refrain::test {

inline std::string line_that_fails;

/// "file.cpp:12", the line after this call, as messages write it.
inline std::string next_line(int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  const std::string path = file;
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line + 1);
}

/// Called just before the statement that goes wrong: "@" among the expected words is then its line, as
/// messages write it.
inline void next_line_fails(int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  line_that_fails = next_line(line, file);
}

inline void expect_words(const std::string& text, std::initializer_list<std::string> words) {
  for (const std::string& word : words) {
    const std::string& wanted = word == "@" ? line_that_fails : word;
    EXPECT_NE(text.find(wanted), std::string::npos) << "no '" << wanted << "' in: " << text;
  }
}

/// A second program works after the first has failed.
inline void expect_usable(Runtime& runtime) {
  static constexpr Field<double> value{"value"};
  static const Task set{"set", [](Write<double> x) {
                          for (auto p : x.domain()) x[p] = 3;
                        }};
  runtime.run([](Context& context) {
    auto region = context.region(Rect1{0, 3}, value);
    context.launch(set, region[value]);
    EXPECT_EQ(context.access<Read>(region[value])[2], 3);
  });
}

template <class E>
void expect_error(const Options& options, std::initializer_list<std::string> words,
                  const std::function<void(Context&)>& program) {
  Runtime runtime(options);
  try {
    runtime.run(program);
    ADD_FAILURE() << "no error";
  } catch (const E& error) {
    expect_words(error.what(), words);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an error of another type: " << error.what();
  }
  expect_usable(runtime);
}

inline Options small_machine(const std::string& machine = "emulated:cpus=2", int workers = 1) {
  Options options;
  options.machine = machine;
  options.workers = workers;
  return options;
}

}  // namespace refrain::test
