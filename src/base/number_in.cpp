#include "base/number_in.hpp"

#include <charconv>
#include <fstream>

namespace refrain {

std::optional<std::uint64_t> number_in(const std::string& path, std::string_view key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    std::uint64_t number = 0;
    if (begin != std::string::npos &&
        std::from_chars(line.data() + begin, line.data() + line.size(), number).ec == std::errc())
      return number;
    break;
  }
  return {};
}

}  // namespace refrain
