#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace refrain {

void assertion_failed(const char* condition, const char* sentence, const char* file,
                      int line) noexcept {
  std::fprintf(stderr, "refrain: internal error at %s:%d: %s (%s)\n", file, line, sentence,
               condition);
  std::abort();
}

}  // namespace refrain
