#pragma once
// Names, numbered 0, 1 ... in the order in which they first came. One thread.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace refrain::oracle {

class Names {
 public:
  Names() = default;
  Names(const Names&) = delete;  // numbers_ looks into names_
  Names& operator=(const Names&) = delete;

  /// Of a new name, if there is none like it.
  std::uint32_t number(std::string_view name) {
    if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(name);
    try {
      numbers_.emplace(names_.back(), number);
    } catch (...) {
      names_.pop_back();
      throw;
    }
    return number;
  }
  /// Requires number < size(). Stays where it is.
  [[nodiscard]] const std::string& operator[](std::uint32_t number) const { return names_[number]; }
  // The map has its size; a deque's has to be computed.
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace refrain::oracle
