#pragma once
// An argc and argv as a program gets them, and a REFRAIN_ARGS that lasts for a scope.

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

namespace refrain::test {

class Arguments {
 public:
  Arguments(std::initializer_list<const char*> words) {
    texts_.emplace_back("program");
    for (const char* word : words) texts_.emplace_back(word);
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
    count = static_cast<int>(texts_.size());
  }
  char** values() { return pointers_.data(); }
  /// What is left, without the program's name.
  [[nodiscard]] std::vector<std::string> left() const {
    return {pointers_.begin() + 1, pointers_.begin() + count};
  }

  int count;

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

class EnvironmentArgs {
 public:
  explicit EnvironmentArgs(const char* text) { setenv("REFRAIN_ARGS", text, 1); }
  ~EnvironmentArgs() { unsetenv("REFRAIN_ARGS"); }
  EnvironmentArgs(const EnvironmentArgs&) = delete;
  EnvironmentArgs& operator=(const EnvironmentArgs&) = delete;
};

}  // namespace refrain::test
