#pragma once
// The name of a call for reports: a text that lives as long as the process, and a hash of it that is known beforehand.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace refrain::runtime {

class CallName {
 public:
  template <std::size_t Size>
  consteval CallName(const char (&literal)[Size])
      : text_(literal), hash_(hash_of({literal, Size - 1})) {}

  /// Of a copy that is kept for ever, one for all equal texts: few tasks have names that are made up at run time.
  /// Any thread.
  static CallName kept(std::string_view text);

  [[nodiscard]] constexpr const char* text() const { return text_; }
  /// The same in every process.
  [[nodiscard]] constexpr std::uint64_t hash() const { return hash_; }

 private:
  constexpr CallName(const char* text, std::uint64_t hash) : text_(text), hash_(hash) {}
  /// FNV-1a.
  static constexpr std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char letter : text)
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
    return hash;
  }

  const char* text_;
  std::uint64_t hash_;
};

}  // namespace refrain::runtime
