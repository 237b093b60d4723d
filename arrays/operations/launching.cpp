#include "operations/launching.hpp"

#include <utility>
#include <vector>

#include "shapes/complain.hpp"

namespace refrain::arrays::detail {

AnyFuture launch(SessionImpl& session, const DynamicTask& task, int points,
                 std::span<const Use> uses, void* values, const ValueOps& ops, Coord work,
                 const Where& where, bool wants_future) {
  std::vector<Requirement> requirements;
  requirements.reserve(uses.size());
  for (const Use& use : uses)
    requirements.push_back(
        use.storage->requirement(session.context, use.privilege, use.ranges, points, where));
  const LaunchDomain domain(points);
  LaunchRequest request(task, where);
  if (points > 1) request.domain = &domain;
  request.requirements = requirements;
  request.values = values;
  request.value_ops = &ops;
  request.hints.inline_if_ready = is_small(work);
  request.wants_future = wants_future;
  return with_memory_errors(where, [&] { return session.context.launch(request); });
}

}  // namespace refrain::arrays::detail
