#include "tracing/autotrace_log.hpp"

#include <fmt/format.h>

#include <utility>

namespace refrain::runtime {

void AutotraceLog::write(const std::string& fields) {
  told_.autotraced(fmt::format("{{\"context\":{},\"event\":{}}}\n", context_, fields));
}

void AutotraceLog::write(const char* event, std::uint64_t at, std::uint64_t calls) {
  write(fmt::format(R"("{}","at":{},"calls":{})", event, at, calls));
}

void AutotraceLog::mined(std::uint64_t at, std::uint64_t calls, std::uint64_t new_candidates) {
  write(fmt::format(R"("mined","at":{},"calls":{},"new":{})", at, calls, new_candidates));
}

void AutotraceLog::extend(std::uint64_t at, std::uint64_t calls, bool are_replayed) {
  if (stretch_.is_replayed != are_replayed || stretch_.end != at) {
    flush();
    stretch_.begin = at;
    stretch_.is_replayed = are_replayed;
  }
  stretch_.end = at + calls;
}

void AutotraceLog::flush() {
  const Stretch done = std::exchange(stretch_, {});
  if (done.begin == done.end) return;
  const char* const event = done.is_replayed ? "replayed" : "analysed";
  std::string line = fmt::format(R"("{}","from":{},"to":{})", event, done.begin, done.end);
  if (done.is_replayed) line += fmt::format(R"(,"whole":{},"left":{})", done.whole, done.left);
  write(line);
}

}  // namespace refrain::runtime
