#include "operations/progression.hpp"

#include <vector>

#include "operations/checks.hpp"
#include "operations/launching.hpp"
#include "operations/sharing.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays::detail {

namespace {

struct ProgressionCall {
  Progression rule;
  std::vector<Coord> begin;  // of each point
};

void run_progression(const TaskFrame& frame) {
  const auto& call = *static_cast<const ProgressionCall*>(frame.values);
  const Progression& rule = call.rule;
  const Coord first = call.begin[frame.rank], end = call.begin[frame.rank + 1];
  std::byte* zero = element_zero(frame, 0);
  if (rule.type == DType::int64) {
    auto* elements = reinterpret_cast<std::int64_t*>(zero);
    const auto start = static_cast<std::uint64_t>(rule.whole_start);
    const auto step = static_cast<std::uint64_t>(rule.whole_step);
    for (Coord i = first; i < end; ++i)
      elements[i] = static_cast<std::int64_t>(start + static_cast<std::uint64_t>(i) * step);
  } else {
    auto* elements = reinterpret_cast<double*>(zero);
    for (Coord i = first; i < end; ++i)
      elements[i] =
          i == rule.last ? rule.last_value : rule.start + static_cast<double>(i) * rule.step;
  }
}

const DynamicTask progression_task = plain_task<run_progression>("progression");

}  // namespace

Array progression(SessionImpl& session, Coord count, const Progression& rule, const Where& where) {
  check_shape(Shape(count), where);
  Array result = session.make_stored(Shape(count), rule.type, where);
  if (count == 0) return result;
  Storage& storage = *result.value()->storage;
  const Tiling& tiling = storage.tiling();
  launch(session, progression_task, tiling.tiles(),
         {{&storage, Privilege::write, tiles_of(session, tiling)}},
         ProgressionCall{rule, tiling.begin}, count, where);
  return result;
}

Array positions_up_to(SessionImpl& session, Coord count, const Where& where) {
  Progression rule{DType::int64};
  rule.whole_step = 1;
  return progression(session, count, rule, where);
}

}  // namespace refrain::arrays::detail
