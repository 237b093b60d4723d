#include "base/json_text.hpp"

#include <cstdint>

namespace refrain {

namespace {

/// Bytes at the beginning of a text that are one character, or have to be replaced by one.
struct Character {
  std::size_t bytes;
  bool valid;
};

/// The Unicode standard's table of well-formed byte sequences (3.9). What is not one is taken up to the byte
/// that does not fit, as the standard recommends.
Character next_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {1, true};
  if (first < 0xc2 || first > 0xf4) return {1, false};
  const std::size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  // Of the second byte: no longer forms than needed, no surrogates, nothing beyond U+10FFFF.
  std::uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  std::uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (i == text.size() || byte(i) < least || byte(i) > most) return {i, false};
    least = 0x80;
    most = 0xbf;
  }
  return {bytes, true};
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  static constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<std::uint8_t>(c);
    const Character character = next_character(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += character.valid ? text.substr(0, character.bytes) : replacement;
    }
    text.remove_prefix(character.bytes);
  }
  out += '"';
}

}  // namespace refrain
