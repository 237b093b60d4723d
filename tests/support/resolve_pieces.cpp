// The points of every piece of every kind of partition, by going through all points.

#include <cstdlib>

#include "support/resolve.hpp"

namespace refrain::test {

namespace {

Point<3> colour_at(const Point<3>& extents, int position) {
  return {position / (extents[1] * extents[2]), position / extents[2] % extents[1],
          position % extents[2]};
}

template <class Wanted>
Mask choose(const Shape& shape, Mask from, Wanted&& wanted) {
  Mask chosen = 0;
  for (int i = 0; i < static_cast<int>(shape.points.size()); ++i)
    if (has(from, i) && wanted(shape.points[static_cast<std::size_t>(i)], i))
      chosen |= Mask{1} << i;
  return chosen;
}

bool near(const Shape& shape, const Point<3>& p, const Point<3>& q, const Point<3>& width) {
  for (int d = 0; d < shape.dim; ++d)
    if (std::abs(p[d] - q[d]) > width[d]) return false;
  return true;
}

std::vector<Mask> blocks(const Shape& shape, Mask parent, const Point<3>& numbers) {
  Point<3> lo{}, hi{-1, -1, -1};
  bool any = false;
  for (int i = 0; i < static_cast<int>(shape.points.size()); ++i) {
    if (!has(parent, i)) continue;
    const Point<3>& p = shape.points[static_cast<std::size_t>(i)];
    for (int d = 0; d < 3; ++d) {
      if (!any || p[d] < lo[d]) lo[d] = p[d];
      if (!any || p[d] > hi[d]) hi[d] = p[d];
    }
    any = true;
  }
  std::vector<Mask> pieces;
  const auto total = static_cast<int>(numbers[0] * numbers[1] * numbers[2]);
  for (int c = 0; c < total; ++c) {
    const Point<3> colour = colour_at(numbers, c);
    pieces.push_back(choose(shape, parent, [&](const Point<3>& p, int) {
      for (int d = 0; d < shape.dim; ++d) {
        const Coord length = hi[d] - lo[d] + 1, x = p[d] - lo[d];
        if (x < colour[d] * length / numbers[d] || x >= (colour[d] + 1) * length / numbers[d])
          return false;
      }
      return true;
    }));
  }
  return pieces;
}

Mask grow(const Shape& shape, Mask parent, Mask piece, const Point<3>& width) {
  return choose(shape, parent, [&](const Point<3>& p, int) {
    return choose(shape, piece, [&](const Point<3>& q, int) { return near(shape, p, q, width); }) !=
           0;
  });
}

/// The points of the piece that have no point outside the parent within `width` of them.
Mask inner(const Shape& shape, Mask parent, Mask piece, const Point<3>& width) {
  return choose(shape, piece, [&](const Point<3>& p, int) {
    Point<3> q = p;
    for (q[0] = p[0] - width[0]; q[0] <= p[0] + width[0]; ++q[0])
      for (q[1] = p[1] - width[1]; q[1] <= p[1] + width[1]; ++q[1])
        for (q[2] = p[2] - width[2]; q[2] <= p[2] + width[2]; ++q[2]) {
          const int i = shape.find(q);
          if (i < 0 || !has(parent, i)) return false;
        }
    return true;
  });
}

Mask restriction(const Shape& shape, const PartitionSpec& spec, Mask parent,
                 const Point<3>& colour) {
  Point<3> lo{}, hi{};
  for (int d = 0; d < shape.dim; ++d) {
    lo[d] = spec.scale[d] * colour[d % spec.colour_dim] + spec.offset[d];
    hi[d] = lo[d] + spec.extent[d] - 1;
  }
  return choose(shape, parent, [&](const Point<3>& p, int) { return Rect<3>{lo, hi}.contains(p); });
}

/// The points of `parent` that one of `from` points to.
Mask pointed_to(const Shape& shape, Mask parent, Mask from, const PointerValues& pointers) {
  return choose(shape, parent, [&](const Point<3>& p, int) {
    for (int i = 0; i < max_points; ++i)
      if (has(from, i) && pointers.at(i) == p) return true;
    return false;
  });
}

Mask combine(PartitionSpec::Op op, Mask a, Mask b) {
  switch (op) {
    case PartitionSpec::Op::unite: return a | b;
    case PartitionSpec::Op::intersect: return a & b;
    default: return a & ~b;
  }
}

}  // namespace

int ResolvedPartition::find(const Point<3>& c) const {
  for (int d = 0; d < 3; ++d)
    if (c[d] < 0 || c[d] >= colours[d]) return -1;
  return static_cast<int>((c[0] * colours[1] + c[1]) * colours[2] + c[2]);
}

Point<3> ResolvedPartition::colour(int position) const { return colour_at(colours, position); }

std::vector<Mask> make_pieces(const Shape& shape, const PartitionSpec& spec, Mask parent,
                              const ResolvedPartition* a, const ResolvedPartition* b,
                              const PointerValues& pointers) {
  using Op = PartitionSpec::Op;
  std::vector<Mask> pieces;
  Point<3> width{};
  for (int d = 0; d < shape.dim; ++d) width[d] = spec.numbers[d];
  switch (spec.op) {
    case Op::blocks: return blocks(shape, parent, spec.numbers);
    case Op::pieces:
      for (const Mask m : spec.pieces) pieces.push_back(m & parent);
      break;
    case Op::restriction: {
      const auto total = static_cast<int>(spec.numbers[0] * spec.numbers[1] * spec.numbers[2]);
      for (int c = 0; c < total; ++c)
        pieces.push_back(restriction(shape, spec, parent, colour_at(spec.numbers, c)));
      break;
    }
    case Op::by_colour: {
      const auto total = static_cast<int>(spec.numbers[0] * spec.numbers[1] * spec.numbers[2]);
      for (int c = 0; c < total; ++c)
        pieces.push_back(choose(shape, parent, [&](const Point<3>&, int i) {
          return pointers.at(i) == colour_at(spec.numbers, c);
        }));
      break;
    }
    case Op::image:
      for (const Mask m : a->pieces) pieces.push_back(pointed_to(shape, parent, m, pointers));
      break;
    case Op::preimage:
      for (const Mask m : a->pieces)
        pieces.push_back(choose(shape, parent, [&](const Point<3>&, int i) {
          const int j = pointers.into->find(pointers.at(i));
          return j >= 0 && has(m, j);
        }));
      break;
    case Op::halo:
      for (const Mask m : a->pieces) pieces.push_back(grow(shape, parent, m, width));
      break;
    case Op::interior:
      for (const Mask m : a->pieces) pieces.push_back(inner(shape, parent, m, width));
      break;
    default:
      for (std::size_t c = 0; c < a->pieces.size(); ++c)
        pieces.push_back(combine(spec.op, a->pieces[c], b->pieces[c]));
  }
  return pieces;
}

}  // namespace refrain::test
