#pragma once
// The programs that generate.py has written, as text: each a number and its lines. What the tokens of a line
// mean is in program.py.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace refrain::test::numpy {

/// A line: what it does, and for a reader what it says. Views of the text of the Programs.
struct Statement {
  std::vector<std::string_view> tokens;
  std::string_view text;
};

struct Program {
  int number = 0;
  std::vector<Statement> statements;

  /// One statement a line, as for NumPy.
  [[nodiscard]] std::string readable() const;
};

class Programs {
 public:
  /// Throws std::runtime_error when there is no such file, or its end is missing.
  explicit Programs(const std::string& path);
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  [[nodiscard]] int count() const { return static_cast<int>(places_.size()); }
  /// The program of a number from 1 on.
  [[nodiscard]] Program program(int number) const;
  /// "seed 1, NumPy 1.24.2".
  [[nodiscard]] const std::string& origin() const { return origin_; }

 private:
  std::string text_;
  std::string origin_;
  std::vector<std::string_view> places_;  // the lines of each
};

/// The parts of a text between separators; of an empty one none.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace refrain::test::numpy
