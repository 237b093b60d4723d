#include "runtime/autotrace_log.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/report_file.hpp"

namespace refrain::runtime {

using Json = nlohmann::ordered_json;

void AutotraceLog::write(Json line) {
  Json all = {{"context", context_}};
  all.update(line);
  file_.append(all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void AutotraceLog::flush() {
  const Stretch done = std::exchange(stretch_, {});
  if (done.times == 0) return;
  if (done.trace.empty())
    return write({{"event", "analysed"}, {"from", done.begin}, {"to", done.end}});
  write({{"event", "replayed"},
         {"from", done.begin},
         {"to", done.end},
         {"trace", done.trace},
         {"calls", done.calls},
         {"of", done.length},
         {"times", done.times}});
}

void AutotraceLog::analysed(std::uint64_t at) {
  if (stretch_.times == 0 || !stretch_.trace.empty()) {
    flush();
    stretch_.begin = at;
  }
  stretch_.end = at + 1;
  ++stretch_.times;
}

void AutotraceLog::replayed(std::uint64_t at, const std::string& trace, std::uint64_t calls,
                            std::uint64_t length) {
  if (stretch_.times == 0 || stretch_.trace != trace || stretch_.calls != calls ||
      stretch_.length != length) {
    flush();
    stretch_.begin = at;
    stretch_.trace = trace;
    stretch_.calls = calls;
    stretch_.length = length;
  }
  stretch_.end = at + calls;
  ++stretch_.times;
}

void AutotraceLog::mined(std::uint64_t at, std::uint64_t calls, std::uint64_t new_candidates) {
  write({{"event", "mined"}, {"at", at}, {"calls", calls}, {"new", new_candidates}});
}

void AutotraceLog::recorded(std::uint64_t at, const std::string& trace, std::uint64_t calls) {
  write({{"event", "recorded"}, {"at", at}, {"trace", trace}, {"calls", calls}});
}

void AutotraceLog::abandoned(std::uint64_t at, std::uint64_t calls) {
  write({{"event", "abandoned"}, {"at", at}, {"calls", calls}});
}

}  // namespace refrain::runtime
