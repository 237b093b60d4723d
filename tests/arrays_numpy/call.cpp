#include "call.hpp"

#include <complex>
#include <cstdlib>
#include <stdexcept>

#include "program.hpp"

namespace refrain::test::numpy {

using namespace arrays;

namespace {

// Tokens are followed by a blank or a tab, where these stop.
std::int64_t integer(std::string_view text) { return std::strtoll(text.data(), nullptr, 10); }
double floating(std::string_view text) { return std::strtod(text.data(), nullptr); }

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

Bound bound(std::string_view text) { return text.empty() ? Bound(omitted) : Bound(integer(text)); }

Index entry(std::string_view text) {
  if (text == "newaxis") return new_axis;
  if (text == "...") return ellipsis;
  const std::size_t first = text.find(':');
  if (first == std::string_view::npos) return Index(integer(text));
  const std::size_t second = text.find(':', first + 1);
  const std::string_view stop = text.substr(first + 1, second - first - 1);
  const Coord step = second == std::string_view::npos ? 1 : integer(text.substr(second + 1));
  return slice(bound(text.substr(0, first)), bound(stop), step);
}

}  // namespace

std::vector<std::byte> bytes_of(std::string_view digits) {
  std::vector<std::byte> bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(16 * digit(digits[2 * i]) + digit(digits[2 * i + 1]));
  return bytes;
}

Shape shape_of(std::string_view token) {
  Shape shape;
  for (const std::string_view length : split(token.substr(2), ','))
    shape.push_back(integer(length));
  return shape;
}

DType type_named(std::string_view name) {
  for (int i = 0; i < kDTypes; ++i)
    if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  throw std::logic_error("no type " + std::string(name));
}

Array& Call::array(std::size_t i) const {
  const auto found = names_.find(at(i).substr(1));
  if (found == names_.end()) throw std::logic_error("no name " + std::string(at(i)));
  return found->second;
}

std::vector<Array> Call::list(std::size_t i) const {
  std::vector<Array> arrays;
  if (at(i) == "$") return arrays;
  for (const std::string_view name : split(at(i), ','))
    arrays.push_back(names_.find(name.substr(1))->second);
  return arrays;
}

Operand Call::operand(std::size_t i) const {
  const std::string_view token = at(i);
  if (is_array(i)) return Operand(array(i));
  const std::string_view text = token.substr(2);
  if (token[0] == 'b') return Operand(text == "1");
  if (token[0] == 'i') return Operand(integer(text));
  if (token[0] == 'f') return Operand(floating(text));
  const auto parts = split(text, ',');
  return Operand(std::complex<double>(floating(parts.at(0)), floating(parts.at(1))));
}

double Call::real(std::size_t i) const { return floating(at(i).substr(2)); }

Coord Call::count(std::size_t i) const { return integer(at(i).substr(2)); }

std::vector<int> Call::axis_list(std::size_t i) const {
  std::vector<int> list;
  for (const std::string_view axis : split(at(i).substr(2), ','))
    list.push_back(static_cast<int>(integer(axis)));
  return list;
}

Axes Call::axes(std::size_t i) const {
  if (at(i) == "x:all") return {};
  const std::vector<int> list = axis_list(i);
  switch (list.size()) {
    case 1: return Axes(list[0]);
    case 2: return Axes{list[0], list[1]};
    case 3: return Axes{list[0], list[1], list[2]};
    default: throw std::logic_error("so many axes");
  }
}

Array Call::view(std::size_t i) const {
  std::vector<Index> entries;
  const std::string_view index = at(i + 1);
  for (const std::string_view text : split(index.substr(1, index.size() - 2), ','))
    entries.push_back(entry(text));
  // Both ways to a view.
  switch (entries.size()) {
    case 1: return array(i)(entries[0]);
    case 2: return array(i)(entries[0], entries[1]);
    default: return array(i).view(entries);
  }
}

Array& Call::place(std::size_t i) { return has_index(i) ? views_.emplace_back(view(i)) : array(i); }

Operand Call::right_side(std::size_t i) { return is_array(i) ? Operand(place(i)) : operand(i); }

}  // namespace refrain::test::numpy
