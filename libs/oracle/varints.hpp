#pragma once
// Numbers as varints, and strings: counts of their bytes before them. What takes them from bytes believes nothing.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "oracle/error.hpp"

namespace refrain::oracle {

inline void put(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  bytes += static_cast<char>(number);
}

inline void put(std::string& bytes, const std::string& string) {
  put(bytes, string.size());
  bytes += string;
}

/// Takes one thing after the other from the front. InvalidRecord, if it is not there.
class Taking {
 public:
  explicit Taking(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] std::size_t left() const { return rest_.size(); }

  std::string_view bytes(std::size_t size) {
    if (size > rest_.size()) throw InvalidRecord("the record ends too early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes(1)[0]);
      const std::uint64_t bits = byte & 0x7f;
      if (bits << shift >> shift != bits) break;
      number |= bits << shift;
      if (byte < 0x80) return number;
    }
    throw InvalidRecord("a number has more than 64 bits");
  }
  std::uint64_t number_below(std::uint64_t end) {
    const std::uint64_t taken = number();
    if (taken >= end)
      throw InvalidRecord("a number is " + std::to_string(taken) + ", and has to be below " +
                          std::to_string(end));
    return taken;
  }
  /// How many things of at least `least` bytes each follow: not more than there is room for.
  std::size_t count(std::size_t least) {
    const std::uint64_t taken = number();
    if (taken > rest_.size() / least)
      throw InvalidRecord("there should be " + std::to_string(taken) + " things in " +
                          std::to_string(rest_.size()) + " bytes");
    return taken;
  }

 private:
  std::string_view rest_;
};

}  // namespace refrain::oracle
