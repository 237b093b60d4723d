#include "operations/launching.hpp"

#include <utility>
#include <vector>

namespace refrain::arrays {

DynamicTask plain_task(const char* name, void (*body)(const TaskFrame&), ResultType result) {
  TaskVariant variant;
  variant.body = body;
  variant.may_launch = false;
  return DynamicTask(name, std::vector<TaskVariant>{std::move(variant)}, result);
}

std::shared_ptr<const Ranges> tiles_of(detail::SessionImpl& session, const Tiling& tiling) {
  std::vector<Range> tiles;
  for (std::size_t t = 0; t + 1 < tiling.begin.size(); ++t)
    tiles.push_back({tiling.begin[t], tiling.begin[t + 1] - 1});
  return session.ranges.intern(std::move(tiles));
}

AnyFuture launch(detail::SessionImpl& session, const DynamicTask& task, int points,
                 std::span<const Use> uses, void* values, const ValueOps& ops, bool small,
                 const Where& where, bool wants_future) {
  std::vector<Requirement> requirements;
  requirements.reserve(uses.size());
  for (const Use& use : uses)
    requirements.push_back(
        use.storage->requirement(session.context, use.privilege, use.ranges, points));
  const LaunchDomain domain(points);
  LaunchRequest request(task, where);
  if (points > 1) request.domain = &domain;
  request.requirements = requirements;
  request.values = values;
  request.value_ops = &ops;
  request.hints.inline_if_ready = small;
  request.wants_future = wants_future;
  return session.context.launch(request);
}

}  // namespace refrain::arrays
