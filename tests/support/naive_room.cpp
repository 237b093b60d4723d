// Where memory is limited: making room for instances. Part of NaiveAnalysis.

#include <algorithm>
#include <utility>

#include "data/layout.hpp"
#include "support/dimensions.hpp"
#include "support/naive_analysis.hpp"

namespace refrain::test {

data::IndexSpaceRef NaiveAnalysis::space_of(const Instance& instance) const {
  const auto owned_by = static_cast<std::size_t>(instance.owner);
  const Shape& shape =
      program_->shape(parent_ == nullptr ? instance.owner : parent_->arguments[owned_by].tree);
  std::vector<data::BoxPoint> points;
  for (std::size_t i = 0; i < shape.points.size(); ++i)
    if (has(instance.points, static_cast<int>(i))) points.push_back(shape.points[i]);
  return data::IndexSpace::from_points(shape.dim, points);
}

/// Gives the instance bytes, if there can be room.
bool NaiveAnalysis::allocate(Instance& made, std::optional<WhenFull> gives_way) {
  const Shape& shape = program_->shape(made.owner);
  const data::InstanceLayout layout(*space_of(made),
                                    size_of(shape.fields[static_cast<std::size_t>(made.field)]),
                                    {.order = made.order, .sparse = made.sparse});
  memory::MemoryPool& pool = *pools_[made.memory];
  std::vector<std::uint64_t> awaited;  // it retires nothing
  while ((made.block = pool.allocate(layout.bytes, layout.alignment, nullptr, awaited)) == nullptr)
    if (!pool.fits_ever(layout.bytes) || !gives_way || !evict_one(made.memory, *gives_way))
      return false;
  return true;
}

/// Whether the only valid value of a point is there.
bool NaiveAnalysis::holds(int number, int point) {
  const Instance& is = instances_[static_cast<std::size_t>(number)];
  const auto& points = fields_[{is.owner, is.field}];
  if (points.empty()) return false;
  const PointState& at = points[static_cast<std::size_t>(point)];
  return !at.fill_pending && at.valid == std::set{number};
}

/// Drops what was used longest ago, among equals the one made first, of what may give way; false if there is nothing.
bool NaiveAnalysis::evict_one(MemoryId memory, WhenFull when_full) {
  int victim = -1;
  std::uint64_t oldest = point_;
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    const Instance& is = instances_[i];
    if (is.block == nullptr || is.memory != memory || is.last_use >= oldest) continue;
    bool is_copy = true;
    for (int point = 0; point < max_points; ++point)
      if (has(is.points, point) && holds(static_cast<int>(i), point)) is_copy = false;
    if (when_full == WhenFull::next && !is_copy) continue;
    victim = static_cast<int>(i);
    oldest = is.last_use;
  }
  if (victim < 0) return false;
  ResolvedArgument all;
  all.tree = instances_[static_cast<std::size_t>(victim)].owner;
  all.field = instances_[static_cast<std::size_t>(victim)].field;
  all.points = program_->shape(all.tree).all();
  const MemoryId refuge = mapping_->machine().memories(MemoryKind::system)[0];
  for (int i = 0; i < max_points; ++i) {
    if (!has(all.points, i) || !holds(victim, i)) continue;
    copy_point(all, i, victim, try_memory(all, {}, refuge, WhenFull::evict), rank_, -1);
  }
  release(victim);
  return true;
}

void NaiveAnalysis::release(int number) {
  Instance& instance = instances_[static_cast<std::size_t>(number)];
  instance.alive = false;
  for (PointState& at : fields_[{instance.owner, instance.field}]) {
    at.valid.erase(number);
    at.uses.erase(number);
  }
  if (limited_) pools_[instance.memory]->release(std::exchange(instance.block, nullptr));
}

/// A region tree ends.
void NaiveAnalysis::release_all(int tree) {
  for (int field = 0; field < max_fields; ++field)
    for (std::size_t i = instances_.size(); i-- > 0;)
      if (instances_[i].alive && instances_[i].owner == tree && instances_[i].field == field)
        release(static_cast<int>(i));
}

}  // namespace refrain::test
