#include "report/timeline_listener.hpp"

#include "graph/node.hpp"
#include "profile/clock.hpp"

namespace refrain::runtime {

namespace {

profile::Category category_of(exec::NodeKind kind) {
  using exec::NodeKind;
  using profile::Category;
  switch (kind) {
    case NodeKind::task: return Category::task;
    case NodeKind::copy: return Category::copy;
    case NodeKind::fill: return Category::fill;
    case NodeKind::fold: return Category::fold;
    case NodeKind::access: return Category::access;
    default: return Category::other;
  }
}

}  // namespace

void TimelineListener::executed(const exec::Node& node, int thread, std::uint64_t begin_ns,
                                std::uint64_t end_ns) {
  replayed(node.info, node.kind, node.seq, thread, begin_ns, end_ns);
}

void TimelineListener::replayed(const exec::NodeInfo* info, exec::NodeKind kind, std::uint64_t seq,
                                int thread, std::uint64_t begin_ns, std::uint64_t end_ns) {
  profile::Event event;
  event.category = category_of(kind);
  event.name = info != nullptr ? std::string_view(info->name) : to_string(event.category);
  event.begin_ns = begin_ns;
  event.end_ns = end_ns;
  if (info != nullptr) event.where = info->where;
  event.numbers[0] = {"operation", static_cast<std::int64_t>(seq)};
  timeline_.record(thread, event);
}

void TimelineListener::analysed(std::string_view call, const std::source_location& where,
                                int thread, std::uint64_t begin_ns) {
  timeline_.record(thread, {to_string(profile::Category::analysing),
                            profile::Category::analysing,
                            begin_ns,
                            profile::now_ns(),
                            call,
                            where,
                            {}});
}

void TimelineListener::traced(profile::Category what, std::string_view trace,
                              const std::source_location& begun_at, std::uint64_t calls, int thread,
                              std::uint64_t begin_ns) {
  timeline_.record(thread, {to_string(what),
                            what,
                            begin_ns,
                            profile::now_ns(),
                            trace,
                            begun_at,
                            {{{"calls", static_cast<std::int64_t>(calls)}}}});
}

}  // namespace refrain::runtime
