#include "data/set_algebra.hpp"

#include "base/assert.hpp"
#include "refrain/error.hpp"

namespace refrain::data {

namespace {

int common_dimension(const IndexSpaceRef& a, const IndexSpaceRef& b) {
  REFRAIN_ASSERT(a->dim() == b->dim(), "set algebra is between sets of the same dimension");
  return a->dim();
}

bool within(const Box& inner, const Box& outer) {
  return outer.contains(inner.lo) && outer.contains(inner.hi);
}

/// `whole` is dense and reaches around `part`.
bool dense_cover(const IndexSpaceRef& whole, const IndexSpaceRef& part) {
  return part->empty() || (whole->dense() && within(part->bounds(), whole->bounds()));
}

using ListOperation = BoxList (*)(int, BoxSpan, BoxSpan);

IndexSpaceRef compute(ListOperation operation, const IndexSpaceRef& a, const IndexSpaceRef& b) {
  return IndexSpace::from_canonical(a->dim(), operation(a->dim(), a->boxes(), b->boxes()));
}

void check_width(int dim, const BoxPoint& width) {
  for (int d = 0; d < dim; ++d)
    if (width[d] < 0 || width[d] > coordinate_limit)
      throw UsageError("a width of " + to_string(width, dim) + " is not within 0 and 2^60");
}

Box grown(Box box, int dim, const BoxPoint& width) {
  for (int d = 0; d < dim; ++d) {
    box.lo[d] -= width[d];
    box.hi[d] += width[d];
  }
  return box;
}

BoxList grown_list(int dim, BoxSpan boxes, const BoxPoint& width, const Box& within) {
  BoxList list(boxes.begin(), boxes.end());
  for (Box& box : list) box = intersection(grown(box, dim, width), within);
  return canonical_list(dim, std::move(list));
}

}  // namespace

IndexSpaceRef intersect(const IndexSpaceRef& a, const IndexSpaceRef& b) {
  const int dim = common_dimension(a, b);
  if (a == b || dense_cover(b, a)) return a;
  if (dense_cover(a, b)) return b;
  const Box common = intersection(a->bounds(), b->bounds());
  if (common.empty() || (a->dense() && b->dense())) return IndexSpace::dense(dim, common);
  return compute(intersect_lists, a, b);
}

IndexSpaceRef unite(const IndexSpaceRef& a, const IndexSpaceRef& b) {
  common_dimension(a, b);
  if (a == b || dense_cover(a, b)) return a;
  if (dense_cover(b, a)) return b;
  return compute(unite_lists, a, b);
}

IndexSpaceRef subtract(const IndexSpaceRef& a, const IndexSpaceRef& b) {
  const int dim = common_dimension(a, b);
  if (a == b || dense_cover(b, a)) return IndexSpace::empty_space(dim);
  if (b->empty() || !meet(a->bounds(), b->bounds())) return a;
  return compute(subtract_lists, a, b);
}

bool overlaps(const IndexSpaceRef& a, const IndexSpaceRef& b) {
  const int dim = common_dimension(a, b);
  if (a->empty() || b->empty() || !meet(a->bounds(), b->bounds())) return false;
  if (a == b || (a->dense() && b->dense()) || dense_cover(a, b) || dense_cover(b, a)) return true;
  return lists_overlap(dim, a->boxes(), b->boxes());
}

bool contains(const IndexSpaceRef& whole, const IndexSpaceRef& part) {
  const int dim = common_dimension(whole, part);
  if (whole == part || dense_cover(whole, part)) return true;
  if (whole->volume() < part->volume() || !within(part->bounds(), whole->bounds())) return false;
  return list_covers(dim, whole->boxes(), part->boxes());
}

IndexSpaceRef clip(const IndexSpaceRef& a, const Box& box) {
  Box flat = box;
  for (int d = a->dim(); d < 3; ++d) flat.lo[d] = flat.hi[d] = 0;
  const Box common = intersection(a->bounds(), flat);
  if (common.empty() || a->dense()) return IndexSpace::dense(a->dim(), common);
  if (common == a->bounds()) return a;
  return IndexSpace::from_canonical(a->dim(), intersect_lists(a->dim(), a->boxes(), {&common, 1}));
}

IndexSpaceRef unite(int dim, std::span<const IndexSpaceRef> sets) {
  if (sets.size() == 1) return sets[0];
  BoxList boxes;
  for (const IndexSpaceRef& set : sets) {
    REFRAIN_ASSERT(set->dim() == dim, "set algebra is between sets of the same dimension");
    boxes.insert(boxes.end(), set->boxes().begin(), set->boxes().end());
  }
  return IndexSpace::from_canonical(dim, canonical_list(dim, std::move(boxes)));
}

IndexSpaceRef grow(const IndexSpaceRef& a, const BoxPoint& width, const IndexSpaceRef& within) {
  const int dim = common_dimension(a, within);
  check_width(dim, width);
  if (a->empty() || within->empty()) return IndexSpace::empty_space(dim);
  if (a->dense()) return clip(within, grown(a->bounds(), dim, width));
  BoxList list = grown_list(dim, a->boxes(), width, within->bounds());
  if (!within->dense()) list = intersect_lists(dim, list, within->boxes());
  return IndexSpace::from_canonical(dim, std::move(list));
}

IndexSpaceRef shrink(const IndexSpaceRef& a, const BoxPoint& width) {
  const int dim = a->dim();
  check_width(dim, width);
  if (a->empty()) return a;
  if (a->dense()) {
    Box box = a->bounds();
    for (int d = 0; d < dim; ++d) {
      box.lo[d] += width[d];
      box.hi[d] -= width[d];
    }
    return IndexSpace::dense(dim, box);
  }
  // What remains is outside the growth of the outside; a frame of `width` is all the outside one needs.
  const Box frame = grown(a->bounds(), dim, width);
  const BoxList outside = subtract_lists(dim, {&frame, 1}, a->boxes());
  const BoxList removed = grown_list(dim, outside, width, a->bounds());
  return IndexSpace::from_canonical(dim, subtract_lists(dim, a->boxes(), removed));
}

}  // namespace refrain::data
