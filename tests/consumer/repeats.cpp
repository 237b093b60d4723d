// What a project outside needs that wants the repeat finder and no runtime.
#include "repeats/repeats.hpp"

#include <cstdio>
#include <string_view>
#include <vector>

int main() {
  using namespace refrain::autotrace;
  const std::string_view text = "aabcbcbaa";
  const std::vector<Repeat> repeats = find_repeats(std::vector<Token>(text.begin(), text.end()), 2);
  for (const Repeat& repeat : repeats) {
    const std::string_view part = text.substr(repeat.begins.front(), repeat.length);
    std::printf("%.*s, %zu times\n", int(part.size()), part.data(), repeat.begins.size());
  }
  return coverage(repeats) == 8 ? 0 : 1;
}
