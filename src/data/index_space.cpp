#include "data/index_space.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <ranges>
#include <unordered_map>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "refrain/error.hpp"

namespace refrain::data {

namespace {

void extend(Box& bounds, const BoxPoint& lo, const BoxPoint& hi) {
  for (int d = 0; d < 3; ++d) {
    bounds.lo[d] = std::min(bounds.lo[d], lo[d]);
    bounds.hi[d] = std::max(bounds.hi[d], hi[d]);
  }
}

Box bounds_of(BoxSpan list) {
  Box bounds = list.empty() ? Box{} : list.front();
  for (const Box& box : list) extend(bounds, box.lo, box.hi);
  return bounds;
}

Box flattened(int dim, Box box) {
  for (int d = dim; d < 3; ++d) box.lo[d] = box.hi[d] = 0;
  return box;
}

void check_coordinates(int dim, const Box& bounds) {
  for (int d = 0; d < dim; ++d)
    if (bounds.lo[d] < -coordinate_limit || bounds.hi[d] > coordinate_limit)
      throw UsageError("index space " + to_string(bounds, dim) +
                       ": coordinates must lie within -2^60 and 2^60");
}

std::size_t checked_volume(int dim, BoxSpan list, const Box& bounds) {
  std::int64_t total = 0;
  for (const Box& box : list) {
    std::int64_t points = 1;
    bool overflow = false;
    for (int d = 0; d < dim; ++d)
      overflow |= __builtin_mul_overflow(points, box.hi[d] - box.lo[d] + 1, &points);
    if (overflow || __builtin_add_overflow(total, points, &total))
      throw UsageError("index space within " + to_string(bounds, dim) +
                       " has more than 2^63 points");
  }
  return static_cast<std::size_t>(total);
}

/// The row-major position of a point of the box.
std::size_t position_in(const Box& box, const BoxPoint& p, int dim) {
  std::size_t position = 0;
  for (int d = 0; d < dim; ++d) {
    const auto extent = static_cast<std::size_t>(box.hi[d] - box.lo[d] + 1);
    position = position * extent + static_cast<std::size_t>(p[d] - box.lo[d]);
  }
  return position;
}

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

/// The table of all index spaces alive, by content: what makes equality a comparison of references. Sharded by hash, so
/// that threads rarely meet.
///
/// The table owns nothing. Its protocol with the reference count: a count that has reached zero never rises again. Who
/// finds a set takes a reference only while the count is positive (under the shard's lock), and the thread that brought
/// it to zero removes the set and frees it. A set that dies while an equal one is made is simply not found, and for a
/// moment two equal objects exist, of which only one has owners.
struct alignas(64) Shard {
  std::mutex mutex;
  std::unordered_multimap<std::uint64_t, const IndexSpace*> sets;  // by id
};

/// Never destroyed: static references may go after any order of destruction.
std::array<Shard, 16>& table() {
  static auto& table = *new std::array<Shard, 16>;
  return table;
}
Shard& shard_of(std::uint64_t id) { return table()[id >> 60]; }

}  // namespace

IndexSpace::IndexSpace(int dim, const Box& bounds, std::size_t volume, std::uint64_t id,
                       BoxList boxes)
    : dim_(dim), bounds_(bounds), volume_(volume), id_(id), boxes_(std::move(boxes)) {
  if (boxes_.empty()) return;
  before_.reserve(boxes_.size() + 1);
  before_.push_back(0);
  for (const Box& box : boxes_) before_.push_back(before_.back() + box.volume());
}

bool IndexSpace::try_share() const noexcept {
  std::uint32_t count = references_.load(std::memory_order_relaxed);
  while (count != 0)
    if (references_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
  return false;
}

// `owned`, of a list with several boxes: where it may be taken from.
IndexSpaceRef IndexSpace::intern(int dim, BoxSpan list, BoxList* owned) {
  REFRAIN_ASSERT(1 <= dim && dim <= 3, "an index space has 1, 2 or 3 dimensions");
  static_assert(sizeof(Box) == 6 * sizeof(Coord), "boxes are hashed as bytes");
  const std::uint64_t id =
      hash_bytes(list.data(), list.size_bytes(), static_cast<std::uint64_t>(dim));
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  for (auto [at, end] = shard.sets.equal_range(id); at != end; ++at)
    if (const IndexSpace& set = *at->second;
        set.dim_ == dim && std::ranges::equal(set.boxes(), list) && set.try_share())
      return {&set, false};
  const Box bounds = bounds_of(list);
  check_coordinates(dim, bounds);
  const std::size_t volume = checked_volume(dim, list, bounds);
  BoxList kept;
  if (list.size() > 1) {
    kept = std::move(*owned);
    if (kept.capacity() > kept.size() + kept.size() / 8) kept.shrink_to_fit();
  }
  std::unique_ptr<const IndexSpace> made(new IndexSpace(dim, bounds, volume, id, std::move(kept)));
  shard.sets.emplace(id, made.get());
  return {made.release(), false};
}

IndexSpaceRef IndexSpace::dense(int dim, const Box& box) {
  const Box flat = flattened(dim, box);
  return flat.empty() ? intern(dim, {}, nullptr) : intern(dim, {&flat, 1}, nullptr);
}

IndexSpaceRef IndexSpace::from_canonical(int dim, BoxList list) { return intern(dim, list, &list); }

IndexSpaceRef IndexSpace::from_boxes(int dim, BoxList boxes) {
  for (const Box& box : boxes)
    if (!flattened(dim, box).empty()) check_coordinates(dim, box);
  return from_canonical(dim, canonical_list(dim, std::move(boxes)));
}

IndexSpaceRef IndexSpace::from_points(int dim, std::span<const BoxPoint> points) {
  Box bounds = points.empty() ? Box{} : Box{points.front(), points.front()};
  for (const BoxPoint& p : points) extend(bounds, p, p);
  check_coordinates(dim, bounds);
  PointCollector collector(dim, bounds);
  for (const BoxPoint& p : points) collector.add(p);
  return from_canonical(dim, collector.take());
}

bool IndexSpace::contains(const BoxPoint& p) const {
  return dense() ? bounds_.contains(p) : rank(p).has_value();
}

std::optional<std::size_t> IndexSpace::rank(const BoxPoint& p) const {
  if (!bounds_.contains(p)) return std::nullopt;
  if (boxes_.empty()) return position_in(bounds_, p, dim_);
  std::size_t result = 0;
  // [first, last) is the slab that p lies in so far; `copies` counts the equal cross-sections that its
  // boxes stand for, so counts of points divided by it are counts within one cross-section.
  std::size_t first = 0, last = boxes_.size(), copies = 1;
  for (int d = 0; d < dim_; ++d) {
    const BoxSpan searched = boxes().first(last);
    const std::size_t slab = skip_slabs(searched, first, d, p[d]);
    if (slab == last || p[d] < searched[slab].lo[d]) return std::nullopt;
    const std::size_t end = slab_end(searched, slab, d);
    const Coord lo = searched[slab].lo[d], hi = searched[slab].hi[d];
    result += (before(slab) - before(first)) / copies;
    copies *= static_cast<std::size_t>(hi - lo + 1);
    result += static_cast<std::size_t>(p[d] - lo) * ((before(end) - before(slab)) / copies);
    first = slab;
    last = end;
  }
  return result;
}

IndexSpace::Runs::Runs(const IndexSpace& points) {
  const BoxList& boxes = points.boxes_;
  lo = points.bounds_.lo[0];
  length = static_cast<std::size_t>(points.bounds_.hi[0] - lo) + 1;
  while (length >> shift > 2 * boxes.size()) ++shift;
  firsts.resize((length >> shift) + 1);
  all.reserve(boxes.size() + 1);
  std::size_t next = 0;  // interval without a run so far
  for (std::size_t box = 0; box < boxes.size(); ++box) {
    all.push_back({boxes[box].lo[0], points.before_[box]});
    const std::size_t end = (static_cast<std::size_t>(boxes[box].hi[0] - lo) >> shift) + 1;
    for (; next < end; ++next) firsts[next] = static_cast<std::uint32_t>(box);
  }
  all.push_back({points.bounds_.hi[0] + 1, points.volume_});
  first = firsts.data();
  runs = all.data();
}

const refrain::detail::RunIndex* IndexSpace::runs() const {
  if (dim_ != 1 || boxes_.empty()) return nullptr;
  return &runs_.get([this] { return std::make_unique<const Runs>(*this); });
}

std::optional<std::size_t> IndexSpace::rank_by_boxes(const BoxPoint& p) const {
  if (!bounds_.contains(p)) return std::nullopt;
  // As in rank; in the end `first` is the box that has the point.
  std::size_t first = 0, last = boxes().size();
  for (int d = 0; d < dim_; ++d) {
    const BoxSpan searched = boxes().first(last);
    first = skip_slabs(searched, first, d, p[d]);
    if (first == last || p[d] < searched[first].lo[d]) return std::nullopt;
    last = slab_end(searched, first, d);
  }
  return before(first) + position_in(boxes()[first], p, dim_);
}

std::size_t IndexSpace::box_at(std::size_t position) const {
  if (boxes_.empty()) return 0;
  return static_cast<std::size_t>(std::ranges::upper_bound(before_, position) - before_.begin()) -
         1;
}

BoxPoint IndexSpace::point_in(const Box& box, std::size_t position, int dim) {
  BoxPoint p;
  for (int d = dim - 1; d >= 0; --d) {
    const auto extent = static_cast<std::size_t>(box.hi[d] - box.lo[d] + 1);
    p[d] = box.lo[d] + static_cast<Coord>(position % extent);
    position /= extent;
  }
  return p;
}

BoxPoint IndexSpace::nth(std::size_t position) const {
  REFRAIN_ASSERT(position < volume_, "a position in an index space is below its volume");
  BoxPoint p;
  std::size_t first = 0, last = boxes().size(), copies = 1;  // as in rank
  for (int d = 0; d < dim_; ++d) {
    const std::size_t wanted = before(first) + position * copies;
    const std::size_t behind = *std::ranges::partition_point(
        std::views::iota(first + 1, last), [&](std::size_t box) { return before(box) <= wanted; });
    const Box& box = boxes()[behind - 1];
    const BoxSpan searched = boxes().first(last);
    const std::size_t slab = skip_slabs(searched, first, d, box.lo[d]);
    const std::size_t end = slab_end(searched, slab, d);
    position -= (before(slab) - before(first)) / copies;
    copies *= static_cast<std::size_t>(box.hi[d] - box.lo[d] + 1);
    const std::size_t section = (before(end) - before(slab)) / copies;
    p[d] = box.lo[d] + static_cast<Coord>(position / section);
    position %= section;
    first = slab;
    last = end;
  }
  return p;
}

void IndexSpace::last_reference_gone() const noexcept {
  Shard& shard = shard_of(id_);
  const std::unique_ptr<const IndexSpace> gone(this);  // freed when the lock is open again
  const std::lock_guard lock(shard.mutex);
  auto at = shard.sets.find(id_);
  while (at->second != this) ++at;  // those of one id stand together
  shard.sets.erase(at);
}

std::size_t IndexSpace::live_count() {
  std::size_t count = 0;
  for (Shard& shard : table()) {
    const std::lock_guard lock(shard.mutex);
    count += shard.sets.size();
  }
  return count;
}

std::string to_string(const IndexSpace& space) {
  if (space.dense()) return space.empty() ? "{}" : to_string(space.bounds(), space.dim());
  constexpr std::size_t shown = 4;
  std::string text = "{";
  for (std::size_t i = 0; i < std::min(shown, space.boxes().size()); ++i)
    text += (i ? ", " : "") + to_string(space.boxes()[i], space.dim());
  if (space.boxes().size() > shown)
    text += ", ... (" + std::to_string(space.boxes().size()) + " boxes)";
  return text + "}";
}

IndexSpaceRef intersect(const IndexSpaceRef& a, const IndexSpaceRef& b) {
  const int dim = common_dimension(a, b);
  if (a == b || dense_cover(b, a)) return a;
  if (dense_cover(a, b)) return b;
  const Box common = intersection(a->bounds(), b->bounds());
  if (common.empty() || (a->dense() && b->dense())) return IndexSpace::dense(dim, common);
  return IndexSpace::from_canonical(dim, intersect_lists(dim, a->boxes(), b->boxes()));
}

IndexSpaceRef unite(const IndexSpaceRef& a, const IndexSpaceRef& b) {
  const int dim = common_dimension(a, b);
  if (a == b || dense_cover(a, b)) return a;
  if (dense_cover(b, a)) return b;
  return IndexSpace::from_canonical(dim, unite_lists(dim, a->boxes(), b->boxes()));
}

IndexSpaceRef subtract(const IndexSpaceRef& a, const IndexSpaceRef& b) {
  const int dim = common_dimension(a, b);
  if (a == b || dense_cover(b, a)) return IndexSpace::empty_space(dim);
  if (b->empty() || !meet(a->bounds(), b->bounds())) return a;
  return IndexSpace::from_canonical(dim, subtract_lists(dim, a->boxes(), b->boxes()));
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
  const Box common = intersection(a->bounds(), flattened(a->dim(), box));
  return intersect(a, IndexSpace::dense(a->dim(), common));
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
  BoxList list = grown_list(dim, a->boxes(), width, within->bounds());
  if (!within->dense()) list = intersect_lists(dim, list, within->boxes());
  return IndexSpace::from_canonical(dim, std::move(list));
}

IndexSpaceRef shrink(const IndexSpaceRef& a, const BoxPoint& width) {
  const int dim = a->dim();
  check_width(dim, width);
  if (a->empty()) return a;
  // What remains is outside the growth of the outside; a frame of `width` is all the outside one needs.
  const Box frame = grown(a->bounds(), dim, width);
  const BoxList outside = subtract_lists(dim, {&frame, 1}, a->boxes());
  const BoxList removed = grown_list(dim, outside, width, a->bounds());
  return IndexSpace::from_canonical(dim, subtract_lists(dim, a->boxes(), removed));
}

}  // namespace refrain::data
