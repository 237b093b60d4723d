#pragma once
// What a task may do with a region argument.

#include <cstdint>
#include <string_view>

namespace refrain {

enum class Privilege : std::uint8_t {
  read,        ///< sees the values
  write,       ///< every point is overwritten; what was there before is discarded
  read_write,  ///< sees and changes the values
  reduce,      ///< contributes with an operator; sees only its own accumulator
};

constexpr bool reads(Privilege p) { return p == Privilege::read || p == Privilege::read_write; }
constexpr bool writes(Privilege p) { return p == Privilege::write || p == Privilege::read_write; }

std::string_view to_string(Privilege privilege);

}  // namespace refrain
