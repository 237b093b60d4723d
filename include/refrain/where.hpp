#pragma once
// A place in a program: the line that makes a call, which every message about the call names. C++ fills it in by
// itself, from a default argument (Where::current()); other languages name the file and line of their own sources.
//
// Trivially copyable. The two texts are not copied: they live as long as the program. A launch that is made again is
// recognised by the address of its file's name, so equal places of another language share one text.

#include <cstdint>
#include <source_location>
#include <string>

namespace refrain {

class Where {
 public:
  /// Nowhere: line 0.
  constexpr Where() = default;
  constexpr Where(const char* file, std::uint32_t line, const char* function = "")
      : file_(file), function_(function), line_(line) {}
  constexpr Where(const std::source_location& at)
      : Where(at.file_name(), at.line(), at.function_name()) {}
  /// As a default argument: the place of the call.
  static constexpr Where current(const std::source_location& at = std::source_location::current()) {
    return at;
  }

  // Named as those of std::source_location.
  [[nodiscard]] constexpr const char* file_name() const { return file_; }
  [[nodiscard]] constexpr const char* function_name() const { return function_; }
  [[nodiscard]] constexpr std::uint32_t line() const { return static_cast<std::uint32_t>(line_); }

  /// By the address of the file's name, and the line.
  friend constexpr bool operator==(const Where& a, const Where& b) {
    return a.file_ == b.file_ && a.line_ == b.line_;
  }

 private:
  const char* file_ = "";
  const char* function_ = "";
  std::uint64_t line_ = 0;  ///< a whole word: to copy one that was just written in part is slow
};

/// "file.cpp:12", the way source lines appear in every message.
std::string to_string(const Where& where);

}  // namespace refrain
