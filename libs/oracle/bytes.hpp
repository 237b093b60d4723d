#pragma once
// Numbers of fixed size in a string of bytes, the lowest byte first.

#include <cstddef>
#include <string>
#include <string_view>

namespace refrain::oracle {

template <class Number>
void store(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> 8 * i);
}

/// Requires that it is there.
template <class Number>
Number load(std::string_view bytes, std::size_t offset = 0) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i)
    number |= static_cast<Number>(static_cast<unsigned char>(bytes[offset + i])) << 8 * i;
  return number;
}

}  // namespace refrain::oracle
