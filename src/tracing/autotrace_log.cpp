#include "tracing/autotrace_log.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace refrain::runtime {

using Json = nlohmann::ordered_json;

void AutotraceLog::write(Json line) {
  Json all = {{"context", context_}};
  all.update(line);
  told_.autotraced(all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void AutotraceLog::flush() {
  const Stretch done = std::exchange(stretch_, {});
  if (done.begin == done.end) return;
  Json line = {{"event", done.is_replayed() ? "replayed" : "analysed"},
               {"from", done.begin},
               {"to", done.end}};
  if (done.is_replayed()) line.update({{"whole", done.whole}, {"left", done.left}});
  write(line);
}

void AutotraceLog::analysed(std::uint64_t at) {
  if (stretch_.is_replayed() || stretch_.end != at) {
    flush();
    stretch_.begin = at;
  }
  stretch_.end = at + 1;
}

void AutotraceLog::replayed(std::uint64_t at, std::uint64_t calls, bool whole) {
  if (!stretch_.is_replayed() || stretch_.end != at) {
    flush();
    stretch_.begin = at;
  }
  stretch_.end = at + calls;
  ++(whole ? stretch_.whole : stretch_.left);
}

void AutotraceLog::mined(std::uint64_t at, std::uint64_t calls, std::uint64_t new_candidates) {
  write({{"event", "mined"}, {"at", at}, {"calls", calls}, {"new", new_candidates}});
}

void AutotraceLog::recorded(std::uint64_t at, std::uint64_t calls) {
  write({{"event", "recorded"}, {"at", at}, {"calls", calls}});
}

void AutotraceLog::abandoned(std::uint64_t at, std::uint64_t calls) {
  write({{"event", "abandoned"}, {"at", at}, {"calls", calls}});
}

}  // namespace refrain::runtime
