// What a project outside needs at least: the public headers are found and the library links.
#include "refrain/error.hpp"
#include "refrain/geometry.hpp"

#include <cstdio>
#include <source_location>

int main() {
  constexpr refrain::Rect2 square{{0, 0}, {3, 3}};
  static_assert(square.volume() == 16);
  const std::string here = refrain::to_string(std::source_location::current());
  std::printf("%s at %s\n", refrain::to_string(square).c_str(), here.c_str());
  return here.starts_with("main.cpp:") ? 0 : 1;
}
