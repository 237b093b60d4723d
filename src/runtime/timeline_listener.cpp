#include "runtime/timeline_listener.hpp"

#include "exec/node.hpp"

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
  profile::Event event;
  event.category = category_of(node.kind);
  event.name = node.info != nullptr ? std::string_view(node.info->name) : to_string(event.category);
  event.begin_ns = begin_ns;
  event.end_ns = end_ns;
  if (node.info != nullptr) event.where = node.info->where;
  event.numbers[0] = {"operation", static_cast<std::int64_t>(node.seq)};
  timeline_.record(thread, event);
}

}  // namespace refrain::runtime
