#include "tracing/marked_traces.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "refrain/error.hpp"

namespace refrain::runtime {

namespace {

/// Of all contexts that have used traces.
struct Registry {
  static constexpr std::size_t kMostAbandoned = 1024;
  std::mutex mutex;
  std::vector<OpenMark*> contexts;
  std::map<std::uint64_t, std::string> abandoned;  ///< by trace: what elsewhere() says
};

Registry& registry() {
  static Registry one;
  return one;
}

std::string mark(const char* call, const std::string& trace, const Where& where) {
  return std::string(call) + "('" + trace + "') at " + to_string(where);
}

}  // namespace

OpenMark::OpenMark(std::string context) : context_(std::move(context)) {
  const std::lock_guard lock(registry().mutex);
  registry().contexts.push_back(this);
}

OpenMark::~OpenMark() {
  const std::lock_guard lock(registry().mutex);
  std::erase(registry().contexts, this);
}

void OpenMark::abandon() {
  const std::uint64_t open = trace_.load(std::memory_order_relaxed);
  if (open == 0) return;
  const std::lock_guard lock(registry().mutex);
  auto& abandoned = registry().abandoned;
  if (abandoned.size() >= Registry::kMostAbandoned) abandoned.erase(abandoned.begin());
  abandoned[open] = begun_here(open) + ", which has ended";
  end();
}

/// Empty: another trace is open here, or none.
std::string OpenMark::begun_here(std::uint64_t trace) const {
  // acquire: partner of the store in begin, the place is there ...
  if (trace_.load(std::memory_order_acquire) != trace) return {};
  // ... or parts of a later one by now: acquire, partners of its stores, so that the trace is seen to have ended.
  const Where where(file_.load(std::memory_order_acquire), line_.load(std::memory_order_acquire));
  if (trace_.load(std::memory_order_relaxed) != trace) return {};
  return "; it was begun at " + to_string(where) + " in " + context_;
}

std::string OpenMark::elsewhere(std::uint64_t trace) {
  const std::lock_guard lock(registry().mutex);
  for (const OpenMark* context : registry().contexts)
    if (std::string begun = context->begun_here(trace); !begun.empty()) return begun;
  const auto found = registry().abandoned.find(trace);
  return found != registry().abandoned.end() ? found->second : std::string();
}

// --- marks -------------------------------------------------------------------------------------------

MarkedTraces::MarkedTraces(Selector& selector)
    : selector_(selector),
      open_(selector.context().parent == nullptr
                ? "the context of the program"
                : "the context of " + selector.context().task_name) {}

void MarkedTraces::fail_nested(const Trace& trace, const Where& where) const {
  const OpenTrace& open = selector_.trace();
  throw UsageError(mark("begin_trace", trace.name(), where) + ": trace '" + open.name +
                   "', begun at " + to_string(open.where) + ", has not ended: traces do not nest");
}

void MarkedTraces::begin(const Trace& trace, const Where& where) {
  TraceRoot* const root =
      selector_.options().tracing ? &selector_.tree().root({false, trace.id()}) : nullptr;
  const bool required = is_required(trace);
  selector_.open(true, root, trace.id(), trace.name(), where, required);
  open_.begin(trace.id(), where);
  if (root != nullptr && !required && root->point.replaying.pause())
    selector_.skip(slower_by_replaying);
}

void MarkedTraces::end(const Trace& trace, const Where& where) {
  if (!selector_.is_marked())
    throw UsageError(mark("end_trace", trace.name(), where) +
                     ": no trace has been begun in this context" + OpenMark::elsewhere(trace.id()));
  const OpenTrace& open = selector_.trace();
  if (!is_open(trace))
    throw UsageError(mark("end_trace", trace.name(), where) + ": the trace that is open is '" +
                     open.name + "', begun at " + to_string(open.where) +
                     OpenMark::elsewhere(trace.id()));
  const Where begun = open.where;
  close();
  if (is_required(trace) && selector_.options().tracing)
    judge(required_.at(trace.id()), trace, begun, where);
}

void MarkedTraces::leave(const Trace& trace) {
  if (is_open(trace)) close();
}

void MarkedTraces::close() {
  selector_.close();
  open_.end();
}

void MarkedTraces::require_replay(const Trace& trace, const Where& where) {
  if (is_open(trace))
    throw UsageError(mark("require_replay", trace.name(), where) + ": the trace, begun at " +
                     to_string(selector_.trace().where) + ", is open; say so before it begins");
  required_[trace.id()].where = where;
}

/// At the end of an execution.
void MarkedTraces::judge(Required& required, const Trace& trace, Where begun, Where ended) {
  const TraceExecution& execution = selector_.execution();
  if (required.settled.size() >= kMostSequences) required.settled.clear();
  const auto [at, first] =
      required.settled.try_emplace(execution.sequence.hash, execution.as_required());
  if (first || execution.as_required()) {
    at->second = execution.as_required();
    return;
  }
  const bool excused = !at->second && execution.may_settle();
  at->second = true;
  if (excused) return;
  const std::uint64_t analysed = execution.analysed - execution.vacuous;
  std::string text = mark("end_trace", trace.name(), ended) + ": the trace, begun at " +
                     to_string(begun) + ", was not replayed as require_replay at " +
                     to_string(required.where) + " asks; " + std::to_string(analysed) +
                     (analysed == 1 ? " call was" : " calls were") + " analysed";
  for (const Reason& reason : execution.reasons) text += "; " + reason.text;
  // Of several shards one alone may have analysed it.
  if (Replicated* const replicated = selector_.context().replicated.get())
    replicated->end_run(std::make_exception_ptr(UsageError(text)));
  throw UsageError(text);
}

std::string MarkedTraces::left_open() const {
  if (!selector_.is_marked()) return {};
  const OpenTrace& open = selector_.trace();
  return mark("begin_trace", open.name, open.where) + ": the trace is still open at the end of " +
         (selector_.context().parent == nullptr ? "the program" : selector_.context().task_name) +
         "; end_trace is missing, or call trace(), which ends what it begins";
}

std::string MarkedTraces::why_analysed() const {
  return selector_.options().tracing ? selector_.execution().why() : "--refrain:tracing is off";
}

}  // namespace refrain::runtime
