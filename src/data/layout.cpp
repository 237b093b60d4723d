#include "data/layout.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "data/box_index.hpp"

namespace refrain::data {

bool is_compact(const IndexSpace& space, Sparse sparse) {
  // A walk by strides is worth some holes; where there are many, so is a look-up per access.
  constexpr std::size_t kMostHoles = 64;
  if (space.dense() || sparse == Sparse::box) return false;
  if (sparse == Sparse::compact) return true;
  const std::size_t most = space.volume() > std::numeric_limits<std::size_t>::max() / kMostHoles
                               ? std::numeric_limits<std::size_t>::max()
                               : space.volume() * kMostHoles;
  unsigned __int128 box = 1;
  for (int d = 0; d < space.dim() && box <= most; ++d)
    box *= static_cast<std::uint64_t>(space.bounds().hi[d] - space.bounds().lo[d]) + 1;
  return box > most;
}

InstanceLayout::InstanceLayout(const IndexSpace& space, std::size_t value_size,
                               const Layout& layout) {
  using Wide = unsigned __int128;
  constexpr auto limit = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  compact = is_compact(space, layout.sparse);
  if (compact) {
    const Wide wanted = static_cast<Wide>(space.volume()) * value_size;
    bytes =
        wanted > limit ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(wanted);
    stride[space.dim() - 1] = static_cast<Coord>(value_size);
    return;
  }
  const Box& box = space.bounds();
  Wide step = value_size;
  std::uint64_t first = 0;
  for (int k = 0; k < 3; ++k) {
    const int d = layout.order == Order::c ? 2 - k : k;
    stride[d] = static_cast<Coord>(step);
    first += static_cast<std::uint64_t>(box.lo[d]) * static_cast<std::uint64_t>(stride[d]);
    const auto extent = box.empty() ? Wide{0} : static_cast<Wide>(box.hi[d] - box.lo[d]) + 1;
    step = std::min(step * extent, limit + 1);
  }
  bytes = step > limit ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(step);
  offset = static_cast<std::ptrdiff_t>(-first);
}

namespace {

Rect<1> extent_of(const PlacedValues& values, const Box& box) {
  // Addresses wrap like the arithmetic that makes them, and are positive where a program can have memory.
  std::uintptr_t lo = values.lowest, hi = values.lowest + values.size - 1;
  const BoxPoint& corner = values.points->bounds().lo;
  for (int d = 0; d < values.points->dim(); ++d) {
    const auto step = static_cast<std::uintptr_t>(values.stride[d]);
    const std::uintptr_t first = static_cast<std::uintptr_t>(box.lo[d] - corner[d]) * step;
    const std::uintptr_t last = static_cast<std::uintptr_t>(box.hi[d] - corner[d]) * step;
    lo += values.stride[d] < 0 ? last : first;
    hi += values.stride[d] < 0 ? first : last;
  }
  return {static_cast<Coord>(lo), static_cast<Coord>(hi)};
}

/// Any whole number from lo to hi, times step.
struct Term {
  Coord step, lo, hi;
};

// What a box adds to the address of its lowest value; `sign` -1: takes from it.
void add_terms(std::vector<Term>& terms, const PlacedValues& values, const Box& box, int sign) {
  for (int d = 0; d < values.points->dim(); ++d) {
    const Coord reach = sign * (box.hi[d] - box.lo[d]);
    if (reach == 0) continue;
    const Coord step = values.stride[d] < 0 ? -values.stride[d] : values.stride[d];
    const auto same = std::ranges::find(terms, step, &Term::step);
    Term& term = same != terms.end() ? *same : terms.emplace_back(Term{step, 0, 0});
    (reach < 0 ? term.lo : term.hi) += reach;
  }
}

Coord floor_divide(Coord a, Coord b) { return a / b - (a % b < 0 ? 1 : 0); }

// Whether `sum` and some number of each term make a number from lo to hi. The terms are sorted, large steps
// first; only those numbers of a term are tried with which the rest may come near enough.
bool reaches(std::span<const Term> terms, Coord sum, Coord lo, Coord hi) {
  if (terms.empty()) return lo <= sum && sum <= hi;
  Coord divisor = 0, rest_lo = 0, rest_hi = 0;
  for (const Term& term : terms) divisor = std::gcd(divisor, term.step);
  if (sum + floor_divide(hi - sum, divisor) * divisor < lo) return false;
  for (const Term& term : terms.subspan(1)) {
    rest_lo += term.step * term.lo;
    rest_hi += term.step * term.hi;
  }
  const Term& first = terms[0];
  const Coord least = -floor_divide(sum + rest_hi - lo, first.step);
  const Coord most = floor_divide(hi - sum - rest_lo, first.step);
  for (Coord n = std::max(least, first.lo); n <= std::min(most, first.hi); ++n)
    if (reaches(terms.subspan(1), sum + n * first.step, lo, hi)) return true;
  return false;
}

bool share_bytes(const PlacedValues& a, const Box& of_a, const PlacedValues& b, const Box& of_b) {
  std::vector<Term> terms;
  add_terms(terms, a, of_a, 1);
  add_terms(terms, b, of_b, -1);
  std::ranges::sort(terms, std::ranges::greater{}, &Term::step);
  const Coord apart = extent_of(a, of_a).lo[0] - extent_of(b, of_b).lo[0];
  return reaches(terms, apart, 1 - static_cast<Coord>(a.size), static_cast<Coord>(b.size) - 1);
}

}  // namespace

Rect<1> PlacedValues::extent() const { return extent_of(*this, points->bounds()); }

// Going through the dimensions from the smallest stride, each step is at least as long as what the dimensions
// before it cover.
std::string layout_fault(const PlacedValues& values, const ValueType& type) {
  if (values.lowest % type.alignment != 0)
    return "the memory is not aligned for " + std::string(type.name);
  const Box& bounds = values.points->bounds();
  std::vector<std::pair<unsigned __int128, int>> steps;
  for (int d = 0; d < values.points->dim(); ++d) {
    if (bounds.lo[d] >= bounds.hi[d]) continue;
    if (values.stride[d] % static_cast<Coord>(type.alignment) != 0)
      return "the stride of " + std::to_string(values.stride[d]) + " bytes in dimension " +
             std::to_string(d) + " is not aligned for " + std::string(type.name);
    const __int128 step = values.stride[d];
    steps.emplace_back(step < 0 ? -step : step, d);
  }
  std::ranges::sort(steps);
  unsigned __int128 covered = type.size;
  for (const auto& [step, d] : steps) {
    if (step < covered)
      return "with a stride of " + std::to_string(values.stride[d]) + " bytes in dimension " +
             std::to_string(d) + " values overlap";
    covered += step * static_cast<std::uint64_t>(bounds.hi[d] - bounds.lo[d]);
    if (covered > static_cast<std::uint64_t>(coordinate_limit))
      return "the strides cover more memory than there is";
  }
  return {};
}

bool share_bytes(const PlacedValues& a, const PlacedValues& b) {
  if (a.points->empty() || b.points->empty()) return false;
  const BoxSpan boxes_of_b = b.points->boxes();
  std::vector<NumberedBox> ranges;
  for (const Box& box : boxes_of_b)
    ranges.push_back({refrain::detail::erase_dimension(extent_of(b, box)),
                      static_cast<std::uint32_t>(ranges.size())});
  const auto index = index_of(ranges);
  return std::ranges::any_of(a.points->boxes(), [&](const Box& box) {
    bool shared = false;
    index.find(refrain::detail::erase_dimension(extent_of(a, box)), [&](const NumberedBox& other) {
      shared = shared || share_bytes(a, box, b, boxes_of_b[other.number]);
    });
    return shared;
  });
}

}  // namespace refrain::data
