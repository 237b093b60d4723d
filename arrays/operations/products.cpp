// dot, matmul and outer. Results are computed in blocks whose size depends on the shapes alone, each by one call of
// BLAS, so that their bits are the same for any tiling. A block is some rows of the result, and where there are few
// rows, with long sums, some of their terms: sums of the terms of blocks are then added up.

#include <algorithm>
#include <string>
#include <utility>

#include "operations/blas.hpp"
#include "operations/checks.hpp"
#include "operations/dense.hpp"
#include "refrain/arrays/elements.hpp"
#include "refrain/arrays/linear.hpp"
#include "refrain/arrays/reductions.hpp"
#include "shapes/complain.hpp"

namespace refrain::arrays {

using namespace detail;

namespace {

// Multiplications for a task of its own, where the matrix alone is too small to be shared.
constexpr Coord kTaskWork = 1 << 18;

/// The blocks of a product, in the order of what they leave: for each range of terms the result's rows.
struct Blocks {
  Coord rows, inner, columns;  ///< of the product
  Coord height, depth;         ///< of a block: rows and terms; the last ones may have fewer

  [[nodiscard]] Coord across() const { return (rows + height - 1) / height; }
  [[nodiscard]] Coord deep() const { return (inner + depth - 1) / depth; }
  [[nodiscard]] Coord count() const { return across() * deep(); }
  /// Where what a block leaves begins.
  [[nodiscard]] Coord begin(Coord block) const {
    return (block / across() * rows + block % across() * height) * columns;
  }
};

Blocks blocks_of(DType type, Coord rows, Coord inner, Coord columns) {
  // Elements of a matrix with few rows that are a block.
  constexpr Coord kElements = 1 << 16, kFewRows = 128, kTerms = 64, kMostParts = 1 << 20;
  Blocks blocks{rows, inner, columns, rows >= 512 ? 128 : rows >= kFewRows ? 32 : 16, inner};
  if (kind_of(type) < Kind::floating || rows > kFewRows) return blocks;
  Coord depth = std::max(kTerms, kElements / rows / kTerms * kTerms);
  // What the blocks leave is little beside the result, or little.
  const Coord most = 4 + kMostParts / std::max<Coord>(1, rows * columns);
  depth = std::max(depth, (inner / most / kTerms + 1) * kTerms);
  if (inner >= 2 * depth) blocks.depth = depth;
  return blocks;
}

struct ProductCall {
  DType type;
  Blocks blocks;
  Matrix a, b;
  std::vector<Coord> begin;  // blocks of each point
};

/// Arguments: the result, both factors.
void run_product(const TaskFrame& frame) {
  const auto& call = *static_cast<const ProductCall*>(frame.values);
  const Blocks& blocks = call.blocks;
  // One array may be both factors: then there is one argument for it.
  const std::byte* a = element_zero(frame, 1);
  const std::byte* b = element_zero(frame, frame.arguments.size() - 1);
  for (Coord block = call.begin[frame.rank]; block < call.begin[frame.rank + 1]; ++block) {
    const Coord row = block % blocks.across() * blocks.height;
    const Coord term = block / blocks.across() * blocks.depth;
    const Coord height = std::min(blocks.height, blocks.rows - row);
    const Coord depth = std::min(blocks.depth, blocks.inner - term);
    multiply({call.type, height, depth, blocks.columns, call.a.from(row, term),
              call.b.from(term, 0), blocks.begin(block)},
             a, b, element_zero(frame, 0));
  }
}

const DynamicTask product_task = plain_task<run_product>("matmul");

/// As a matrix that BLAS can take; a copy where it cannot.
struct Factor {
  Array array;
  Matrix matrix;
};
Factor factor(const Array& given, DType type, const Where& where) {
  const auto fits = [](Coord leading, Coord length) {
    return leading >= std::max<Coord>(length, 1) && fits_blas(leading);
  };
  const Layout& layout = given.layout();
  const Coord rows = layout.shape[0], columns = layout.shape[1];
  if (given.dtype() == type) {
    const Coord row_step = rows > 1 ? layout.stride[0] : std::max<Coord>(columns, 1);
    const Coord column_step = columns > 1 ? layout.stride[1] : std::max<Coord>(rows, 1);
    if ((columns <= 1 || layout.stride[1] == 1) && fits(row_step, columns))
      return {given, {layout.offset, row_step, false}};
    if ((rows <= 1 || layout.stride[0] == 1) && fits(column_step, rows))
      return {given, {layout.offset, column_step, true}};
  }
  const Array copy = given.astype(type, where);
  return {copy, {copy.layout().offset, std::max<Coord>(columns, 1), false}};
}

/// What the blocks leave, one range of terms after the other.
Array products_of_blocks(const Blocks& blocks, DType type, const Array& a, const Array& b,
                         const Where& where) {
  SessionImpl& session = session_of(a, where);
  const Factor left = factor(a, type, where), right = factor(b, type, where);
  const auto work = static_cast<Coord>(
      std::min(1e18, static_cast<double>(blocks.rows) * static_cast<double>(blocks.inner) *
                         static_cast<double>(blocks.columns)));
  const Coord tiles = session.tilings.of(a.shape())->tiles();
  const Coord points =
      std::min(blocks.count(),
               std::max<Coord>(tiles, std::min(work / kTaskWork, session.tilings.most_tiles())));
  ProductCall call{type, blocks, left.matrix, right.matrix, {}};
  for (Coord p = 0; p <= points; ++p) call.begin.push_back(p * blocks.count() / points);
  std::vector<Range> parts;
  for (std::size_t p = 0; p + 1 < call.begin.size(); ++p)
    parts.push_back({blocks.begin(call.begin[p]), blocks.begin(call.begin[p + 1]) - 1});
  const Array result =
      session.make_stored({blocks.deep(), blocks.rows, blocks.columns}, type, where);
  const Use from = reading(session, left.array), with = reading(session, right.array);
  std::vector<Use> uses{{result.value()->storage, Privilege::write,
                         points > 1 ? session.ranges.intern(std::move(parts)) : nullptr},
                        from};
  if (with.storage != from.storage) uses.push_back(with);
  launch(session, product_task, static_cast<int>(points), uses, std::move(call), 2 * work, where);
  return result;
}

/// Of two matrices.
Array product(const Array& a, const Array& b, const Where& where) {
  const DType type = promote(a.dtype(), b.dtype());
  const Coord rows = a.shape()[0], inner = a.shape()[1], columns = b.shape()[1];
  if (rows == 0 || columns == 0 || inner == 0)
    return session_of(a, where).cast(Operand(0, where), type, {rows, columns});
  for (const Coord length : {rows, inner, columns})
    if (!fits_blas(length))
      complain<ValueError>(where, "matrices are too long for BLAS: " + to_string(a.shape()) +
                                      " and " + to_string(b.shape()));
  keep_blas_to_one_thread();
  const Blocks blocks = blocks_of(type, rows, inner, columns);
  const Array parts = products_of_blocks(blocks, type, a, b, where);
  if (blocks.deep() == 1) return parts.reshape({rows, columns}, where);
  return sum(parts, 0, false, where);
}

Array inner_product(const Array& a, const Array& b, const Where& where) {
  Array terms = [&] {
    const SessionImpl::Temporaries unstored(session_of(a, where));
    return Operand(a, where) * Operand(b, where);
  }();
  const DType type = terms.dtype();
  if (type == DType::boolean) return any(std::move(terms), {}, false, where);
  return sum(std::move(terms), {}, false, where).astype(type, where);
}

Array multiplied(const Array& a, const Array& b, const Where& where) {
  check_session(session_of(a, where), b, where);
  if (a.dims() > 2 || b.dims() > 2)
    complain<ValueError>(where,
                         "products are of arrays with one or two dimensions, not of shapes " +
                             to_string(a.shape()) + " and " + to_string(b.shape()));
  const Coord inner = a.shape()[a.dims() - 1];
  if (inner != b.shape()[0])
    complain<ValueError>(where, "shapes " + to_string(a.shape()) + " and " + to_string(b.shape()) +
                                    " not aligned: " + std::to_string(inner) + " (dim " +
                                    std::to_string(a.dims() - 1) +
                                    ") != " + std::to_string(b.shape()[0]) + " (dim 0)");
  if (a.dims() == 1 && b.dims() == 1) return inner_product(a, b, where);
  if (a.dims() == 1)
    // Rows of the transposed matrix: with as many blocks as the result is long.
    return product(b.transpose(), a.reshape({inner, 1}, where), where)
        .reshape({b.shape()[1]}, where);
  if (b.dims() == 1)
    return product(a, b.reshape({inner, 1}, where), where).reshape({a.shape()[0]}, where);
  return product(a, b, where);
}

bool is_single(const Operand& a) { return a.array() == nullptr || a.array()->dims() == 0; }

}  // namespace

Array dot(const Operand& a, const Operand& b) {
  if (is_single(a) || is_single(b)) return a * b;
  return multiplied(*a.array(), *b.array(), a.where());
}

Array matmul(const Operand& a, const Operand& b) {
  if (is_single(a) || is_single(b))
    complain<ValueError>(
        a.where(), "matmul: input operand does not have enough dimensions (has 0, requires 1)");
  return multiplied(*a.array(), *b.array(), a.where());
}

Array outer(const Operand& a, const Operand& b) {
  for (const Operand* operand : {&a, &b})
    if (operand->array() == nullptr) complain<TypeError>(operand->where(), "outer takes arrays");
  const Array column = a.array()->reshape({-1, 1}, a.where());
  const Array row = b.array()->reshape({1, -1}, b.where());
  return Operand(column, a.where()) * Operand(row, b.where());
}

}  // namespace refrain::arrays
