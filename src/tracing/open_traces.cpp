#include "tracing/open_traces.hpp"

#include <map>
#include <mutex>
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

}  // namespace

OpenTrace::OpenTrace(std::string context) : context_(std::move(context)) {
  const std::lock_guard lock(registry().mutex);
  registry().contexts.push_back(this);
}

OpenTrace::~OpenTrace() {
  const std::lock_guard lock(registry().mutex);
  std::erase(registry().contexts, this);
}

void OpenTrace::abandon() {
  const std::uint64_t open = trace_.load(std::memory_order_relaxed);
  if (open == 0) return;
  const std::lock_guard lock(registry().mutex);
  auto& abandoned = registry().abandoned;
  if (abandoned.size() >= Registry::kMostAbandoned) abandoned.erase(abandoned.begin());
  abandoned[open] = begun_here(open) + ", which has ended";
  end();
}

/// Empty: another trace is open here, or none.
std::string OpenTrace::begun_here(std::uint64_t trace) const {
  // acquire: partner of the store in begin, the place is there ...
  if (trace_.load(std::memory_order_acquire) != trace) return {};
  // ... or a later one by now: acquire, partner of its store, so that the trace is seen to have ended.
  const std::source_location where = where_.load(std::memory_order_acquire);
  if (trace_.load(std::memory_order_relaxed) != trace) return {};
  return "; it was begun at " + to_string(where) + " in " + context_;
}

std::string OpenTrace::elsewhere(std::uint64_t trace) {
  const std::lock_guard lock(registry().mutex);
  for (const OpenTrace* context : registry().contexts)
    if (std::string begun = context->begun_here(trace); !begun.empty()) return begun;
  const auto found = registry().abandoned.find(trace);
  return found != registry().abandoned.end() ? found->second : std::string();
}

}  // namespace refrain::runtime
