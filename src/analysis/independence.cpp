#include "analysis/independence.hpp"

#include <algorithm>
#include <functional>
#include <ranges>
#include <tuple>
#include <vector>

#include "base/assert.hpp"
#include "data/box_index.hpp"

namespace refrain::analysis {

namespace {

using data::IndexSpace;
using data::NumberedBox;

bool all_use_one(const PointUses& uses) {
  return std::ranges::all_of(uses.sets, [&](const IndexSpace* set) { return set == uses.sets[0]; });
}

/// The boxes of the sets; the number is the point. A set that all points use is there once, as the first
/// point's.
std::vector<NumberedBox> boxes_of(const PointUses& uses) {
  const std::size_t most = all_use_one(uses) ? 1 : uses.sets.size();
  return data::numbered_boxes(uses.sets | std::views::take(most));
}

/// Distinct sets among those that are not empty.
bool all_distinct(std::span<const IndexSpace* const> given) {
  std::vector<const IndexSpace*> sets(given.begin(), given.end());
  std::erase_if(sets, [](const IndexSpace* set) { return set->empty(); });
  std::ranges::sort(sets, std::less<>());  // by address: only whether two are equal is asked
  return std::ranges::adjacent_find(sets) == sets.end();
}

/// Whether points that share data by this requirement conflict.
bool is_writer(const PointUses& uses) {
  return !compatible(uses.privilege, uses.op, uses.privilege, uses.op);
}

bool writes_same_pieces(const PointUses& a, const PointUses& b) {
  return is_writer(a) && a.sets.data() == b.sets.data() && a.sets.size() == b.sets.size();
}

/// Two points of two requirements, perhaps the same one, whose sets meet; of one requirement, two different points.
std::optional<Conflict> conflict_between(const PointUses& a, std::size_t a_index,
                                         const PointUses& b, std::size_t b_index) {
  const bool same = a_index == b_index;
  const std::vector<NumberedBox> boxes_of_a = boxes_of(a);
  const auto index_of_a = data::index_of(boxes_of_a);
  for (const NumberedBox& item : boxes_of(b)) {
    const NumberedBox* other = nullptr;
    index_of_a.find(item.box, [&](const NumberedBox& box) {
      if (same && box.number == item.number) return;  // the boxes of one set do not meet
      if (other == nullptr || box.number < other->number) other = &box;
    });
    if (other == nullptr) continue;
    Conflict found{other->number, item.number, a_index, b_index,
                   intersection(item.box, other->box).lo};
    if (same)
      std::tie(found.first_point, found.second_point) =
          std::minmax({found.first_point, found.second_point});
    // A set that all points use meets the other one at the other's own point, too.
    else if (all_use_one(a)) found.first_point = found.second_point;
    else if (all_use_one(b)) found.second_point = found.first_point;
    return found;
  }
  return std::nullopt;
}

/// Two points whose sets of one writing requirement meet. The requirements before it have been searched, without a find;
/// so where the last of them writes the same sets, there is nothing to find here.
std::optional<Conflict> conflict_within(std::size_t points, std::span<const PointUses> all,
                                        std::size_t index) {
  if (points < 2) return std::nullopt;
  const PointUses& uses = all[index];
  if (index > 0 && writes_same_pieces(all[index - 1], uses)) return std::nullopt;
  if (all_use_one(uses)) {
    if (uses.sets[0]->empty()) return std::nullopt;
    return Conflict{0, 1, index, index, uses.sets[0]->nth(0)};
  }
  if (uses.disjoint_pieces && all_distinct(uses.sets)) return std::nullopt;
  return conflict_between(uses, index, uses, index);
}

}  // namespace

bool compatible(Privilege a, const ReductionOp* a_op, Privilege b, const ReductionOp* b_op) {
  if (a == Privilege::read && b == Privilege::read) return true;
  if (a != Privilege::reduce || b != Privilege::reduce) return false;
  return a_op == b_op || (a_op->name == b_op->name && *a_op->type == *b_op->type);
}

std::optional<Conflict> find_conflict(std::size_t points, std::span<const PointUses> uses) {
  if (points == 0) return std::nullopt;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const PointUses& a = uses[i];
    REFRAIN_ASSERT(a.sets.size() == points || a.sets.size() == 1,
                   "a requirement has one set per point or one for all");
    if (is_writer(a))
      if (auto found = conflict_within(points, uses, i)) return found;
    for (std::size_t j = i + 1; j < uses.size(); ++j) {
      const PointUses& b = uses[j];
      if (a.data != b.data || compatible(a.privilege, a.op, b.privilege, b.op)) continue;
      // The reader is looked up in the other's tree.
      const bool turn = a.privilege == Privilege::read;
      if (auto found = turn ? conflict_between(b, j, a, i) : conflict_between(a, i, b, j))
        return found;
    }
  }
  return std::nullopt;
}

}  // namespace refrain::analysis
