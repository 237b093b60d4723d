#include "support/make_partition.hpp"

#include <array>

#include "support/dimensions.hpp"

namespace refrain::test {

namespace {

using Op = PartitionSpec::Op;

/// Colours 0 .. n-1 in each dimension.
template <int N>
IndexSpace<N> colours_of(const Point<3>& numbers) {
  Rect<N> all;
  for (int d = 0; d < N; ++d) {
    all.lo[d] = 0;
    all.hi[d] = numbers[d] - 1;
  }
  return IndexSpace<N>(all);
}

AnyPartition restriction_of(Context& context, const PartitionSpec& p, const AnyRegion& parent,
                            int dim) {
  std::array<std::array<Coord, 3>, 3> matrix{};
  for (int d = 0; d < dim; ++d)
    matrix[static_cast<std::size_t>(d)][static_cast<std::size_t>(d % p.colour_dim)] = p.scale[d];
  const Projection transform = Projection::affine(matrix, p.offset);
  return with_dim(dim, [&]<int N>(std::integral_constant<int, N>) -> AnyPartition {
    Rect<N> extent;
    for (int d = 0; d < N; ++d) {
      extent.lo[d] = 0;
      extent.hi[d] = p.extent[d] - 1;
    }
    return with_dim(p.colour_dim, [&]<int M>(std::integral_constant<int, M>) -> AnyPartition {
      return context.restrict_to(Region<N>(parent), colours_of<M>(p.numbers), transform, extent);
    });
  });
}

AnyPartition by_colour(Context& context, const PartitionSpec& p, const AnyRegion& parent, int dim,
                       const AnyField& field, ValueKind kind) {
  return with_dim(dim, [&]<int N>(std::integral_constant<int, N>) -> AnyPartition {
    const Region<N> region(parent);
    if (kind == ValueKind::i64)
      return context.by_colour(region, Field<Coord>(field.name), p.numbers[0]);
    if (kind == ValueKind::p32)
      return context.by_colour(region, Field<std::int32_t>(field.name), p.numbers[0]);
    return with_dim(p.colour_dim, [&]<int M>(std::integral_constant<int, M>) -> AnyPartition {
      return context.by_colour(region, Field<Point<M>>(field.name), colours_of<M>(p.numbers));
    });
  });
}

/// An image in, or the preimage in, `parent` of the partition's pieces; `into`: the dimensions pointed into.
AnyPartition through_pointers(Context& context, Op op, const AnyRegion& parent,
                              const AnyPartition& pieces, const AnyField& field, ValueKind kind,
                              int from, int into) {
  return with_dim(from, [&]<int N>(std::integral_constant<int, N>) {
    return with_dim(into, [&]<int M>(std::integral_constant<int, M>) -> AnyPartition {
      const auto through = [&](const auto& pointers) -> AnyPartition {
        if (op == Op::image)
          return context.image(Region<M>(parent), Partition<N>(pieces), pointers);
        return context.preimage(Region<N>(parent), Partition<M>(pieces), pointers);
      };
      if constexpr (M == 1) {
        if (kind == ValueKind::i64) return through(Field<Coord>(field.name));
        if (kind == ValueKind::p32) return through(Field<std::int32_t>(field.name));
      }
      return through(Field<Point<M>>(field.name));
    });
  });
}

template <int N>
AnyPartition plain_partition(Context& context, const Resolved& r, const Shape& shape,
                             const AnyRegion& parent, const AnyPartition& any_a,
                             const AnyPartition& any_b) {
  const PartitionSpec& p = r.spec.partition;
  const Partition<N> a(any_a), b(any_b);
  switch (p.op) {
    case Op::blocks:
      return context.blocks<N>(Region<N>(parent), detail::restore_dimension<N>(p.numbers));
    case Op::halo: return context.halo(a, detail::restore_dimension<N>(p.numbers));
    case Op::interior: return context.interior(a, detail::restore_dimension<N>(p.numbers));
    case Op::unite: return context.unite(a, b);
    case Op::intersect: return context.intersect(a, b);
    case Op::subtract: return context.subtract(a, b);
    default: break;
  }
  std::vector<IndexSpace<N>> pieces;
  for (const Mask m : r.partition.pieces) pieces.push_back(space_of<N>(shape, m));
  return context.partition(Region<N>(parent), pieces);
}

}  // namespace

AnyPartition make_partition(Context& context, const Program& program, const Resolved& r,
                            const AnyRegion& parent, const AnyPartition& a, const AnyPartition& b) {
  const PartitionSpec& p = r.spec.partition;
  const Shape& of = program.shape(r.partition.tree);
  if (p.op == Op::restriction) return restriction_of(context, p, parent, of.dim);
  if (by_data(p.op)) {
    const Shape& from = program.shape(r.source.tree);
    const ValueKind kind = from.fields[static_cast<std::size_t>(r.source.field)];
    const AnyField pointers = field_of(kind, r.source.field);
    if (p.op == Op::by_colour) return by_colour(context, p, parent, of.dim, pointers, kind);
    return through_pointers(context, p.op, parent, a, pointers, kind, from.dim, pointer_dim(kind));
  }
  return with_dim(of.dim, [&]<int N>(std::integral_constant<int, N>) {
    return plain_partition<N>(context, r, of, parent, a, b);
  });
}

}  // namespace refrain::test
