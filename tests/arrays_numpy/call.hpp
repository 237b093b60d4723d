#pragma once
// The arguments of one statement, from its tokens.

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "refrain/arrays.hpp"

namespace refrain::test::numpy {

using Names = std::map<std::string, arrays::Array, std::less<>>;

/// What hexadecimal digits say, in order.
std::vector<std::byte> bytes_of(std::string_view digits);
/// "s:2,3".
arrays::Shape shape_of(std::string_view token);
arrays::DType type_named(std::string_view name);

class Call {
 public:
  Call(arrays::Session& session, Names& names, const std::vector<std::string_view>& arguments)
      : np(session), names_(names), arguments_(arguments) {}

  arrays::Session& np;

  [[nodiscard]] std::size_t size() const { return arguments_.size(); }
  [[nodiscard]] arrays::Array& array(std::size_t i) const;
  [[nodiscard]] std::vector<arrays::Array> list(std::size_t i) const;
  [[nodiscard]] bool is_array(std::size_t i) const { return at(i)[0] == '$'; }
  /// An array or a number.
  [[nodiscard]] arrays::Operand operand(std::size_t i) const;
  [[nodiscard]] double real(std::size_t i) const;
  [[nodiscard]] arrays::Shape shape(std::size_t i) const { return shape_of(at(i)); }
  [[nodiscard]] std::vector<int> axis_list(std::size_t i) const;
  [[nodiscard]] arrays::Axes axes(std::size_t i) const;
  [[nodiscard]] arrays::Coord count(std::size_t i) const;
  /// None is written -1.
  [[nodiscard]] std::optional<arrays::Coord> optional_count(std::size_t i) const {
    return count(i) == -1 ? std::nullopt : std::optional(count(i));
  }
  [[nodiscard]] int axis(std::size_t i) const { return static_cast<int>(count(i)); }
  [[nodiscard]] bool flag(std::size_t i) const { return at(i) == "k:1"; }
  [[nodiscard]] arrays::DType type(std::size_t i) const { return type_named(at(i).substr(2)); }
  [[nodiscard]] std::vector<std::byte> data(std::size_t i) const {
    return bytes_of(at(i).substr(2));
  }
  /// Argument i, an array, with the index that is the argument after it.
  [[nodiscard]] arrays::Array view(std::size_t i) const;
  /// The same, or the name itself where there is no index.
  [[nodiscard]] arrays::Array& place(std::size_t i);
  /// Argument i, with the index after it if it is an array.
  [[nodiscard]] arrays::Operand right_side(std::size_t i);
  [[nodiscard]] bool has_index(std::size_t i) const { return at(i + 1) != "[]"; }

 private:
  [[nodiscard]] std::string_view at(std::size_t i) const { return arguments_.at(i); }

  Names& names_;
  const std::vector<std::string_view>& arguments_;
  std::deque<arrays::Array> views_;  // what operands refer to
};

}  // namespace refrain::test::numpy
