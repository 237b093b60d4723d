#include "runtime/open_traces.hpp"

#include <map>
#include <vector>

#include "refrain/error.hpp"

namespace refrain::runtime {

namespace {

/// Of all contexts that have used traces.
struct Registry {
  static constexpr std::size_t kMostAbandoned = 1024;
  std::mutex mutex;
  std::vector<OpenTrace*> contexts;
  std::map<std::uint64_t, std::string> abandoned;  ///< by trace: what elsewhere() says
};

Registry& registry() {
  static Registry one;
  return one;
}

std::string begun(std::source_location where, const std::string& context) {
  return "; it was begun at " + to_string(where) + " in " + context;
}

}  // namespace

OpenTrace::OpenTrace(std::string context) : context_(std::move(context)) {
  const std::lock_guard lock(registry().mutex);
  registry().contexts.push_back(this);
}

OpenTrace::~OpenTrace() {
  const std::lock_guard lock(registry().mutex);
  std::erase(registry().contexts, this);
}

void OpenTrace::begin(std::uint64_t trace, std::source_location where) {
  const std::lock_guard lock(mutex_);
  trace_ = trace;
  where_ = where;
}

void OpenTrace::end() {
  const std::lock_guard lock(mutex_);
  trace_ = 0;
}

void OpenTrace::abandon() {
  const std::lock_guard all(registry().mutex);
  const std::lock_guard lock(mutex_);
  if (trace_ == 0) return;
  auto& abandoned = registry().abandoned;
  if (abandoned.size() >= Registry::kMostAbandoned) abandoned.erase(abandoned.begin());
  abandoned[trace_] = begun(where_, context_) + ", which has ended";
  trace_ = 0;
}

std::string OpenTrace::elsewhere(std::uint64_t trace) {
  const std::lock_guard all(registry().mutex);
  for (OpenTrace* context : registry().contexts) {
    const std::lock_guard lock(context->mutex_);
    if (context->trace_ == trace) return begun(context->where_, context->context_);
  }
  const auto found = registry().abandoned.find(trace);
  return found != registry().abandoned.end() ? found->second : std::string();
}

}  // namespace refrain::runtime
