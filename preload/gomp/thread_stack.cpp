#include "gomp/thread_stack.hpp"

#include <pthread.h>

#include <cctype>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdlib>

namespace refrain::gomp {
namespace {

std::size_t look() {
  // Of newer versions, which let it be for the host or for other devices.
  if (std::getenv("OMP_STACKSIZE_ALL") != nullptr) return 0;
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  // The first that is of the form; the default, where that is less than the system allows.
  for (const char* const variable : {"OMP_STACKSIZE", "GOMP_STACKSIZE"}) {
    const char* const text = std::getenv(variable);
    const std::size_t asked = text != nullptr ? parse_stack_size(text) : 0;
    if (asked == 0) continue;
    pthread_attr_setstacksize(&attributes, asked);
    break;
  }
  std::size_t size = 0;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  return size;
}

/// Before the program can change the environment, as libgomp reads it.
const std::size_t at_begin = look();

void skip_blanks(std::string_view& text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
}

}  // namespace

std::size_t thread_stack() { return at_begin; }

std::size_t parse_stack_size(std::string_view text) {
  skip_blanks(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  skip_blanks(text);
  int shift = 10;
  if (!text.empty()) {
    switch (std::tolower(static_cast<unsigned char>(text.front()))) {
      case 'b': shift = 0; break;
      case 'k': break;
      case 'm': shift = 20; break;
      case 'g': shift = 30; break;
      default: return 0;
    }
    text.remove_prefix(1);
    skip_blanks(text);
  }
  if (!text.empty() || number > SIZE_MAX >> shift) return 0;
  return number << shift;
}

}  // namespace refrain::gomp
