#include "arrays.hpp"

#include <stdexcept>

#include "../common/host_task.hpp"
#include "kernels.hpp"

namespace jacobi {

using apps::host_task;
using namespace refrain;

namespace {

// A vector argument as the kernels take it.
template <class Accessor>
auto* values(const Accessor& a) {
  if (!a.contiguous_rows()) throw std::runtime_error("the arrays want values side by side");
  return a.pointer(a.domain().bounds().lo);
}

const double* row_of(const Read<double, 2>& matrix, Coord i) {
  if (!matrix.contiguous_rows()) throw std::runtime_error("the matrix wants C order");
  return matrix.pointer({i, 0});
}

}  // namespace

namespace bodies {

void Dot::operator()(Read<double, 2> matrix, Read<double> x, Write<double> result) const {
  const Rect1& rows = result.domain().bounds();
  const auto n = static_cast<Coord>(x.domain().bounds().volume());
  for (Coord i = rows.lo[0]; i <= rows.hi[0]; ++i)
    result[i] = dot_row(row_of(matrix, i), values(x), n);
}

void Sub::operator()(Read<double> a, Read<double> b, Write<double> result) const {
  const auto count = static_cast<Coord>(result.domain().bounds().volume());
  const double* from = values(a);
  const double* what = values(b);
  double* to = values(result);
  for (Coord i = 0; i < count; ++i) to[i] = from[i] - what[i];
}

void Div::operator()(Read<double> a, Read<double> b, Write<double> result, Point<1> block) const {
  const auto count = static_cast<Coord>(result.domain().bounds().volume());
  const double* what = values(a);
  const double* by = values(b);
  double* to = values(result);
  for (Coord i = 0; i < count; ++i) to[i] = what[i] / by[i];
  if (block == 0) progress->step();
}

double Residual::operator()(Read<double, 2> matrix, Read<double> x, Read<double> b,
                            Read<double> d) const {
  const Rect1& rows = b.domain().bounds();
  const auto n = static_cast<Coord>(x.domain().bounds().volume());
  double largest = 0;
  for (Coord i = rows.lo[0]; i <= rows.hi[0]; ++i)
    largest = std::max(largest, residual_of_row(row_of(matrix, i), values(x), x[i], b[i], d[i], n));
  return largest;
}

}  // namespace bodies

Arrays::Arrays(Context& context, const Setup& setup, apps::Progress& progress)
    : ctx(context),
      blocks(setup.blocks),
      pool(context, setup.n, setup.blocks),
      dot(host_task("DOT", bodies::Dot{})),
      sub(host_task("SUB", bodies::Sub{})),
      div(host_task("DIV", bodies::Div{&progress})),
      residual(host_task("RESIDUAL", bodies::Residual{})) {}

Vector::Vector(Arrays& arrays) : arrays_(&arrays), storage_(arrays.pool.take()) {}

Vector& Vector::operator=(Vector&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  arrays_ = std::exchange(other.arrays_, nullptr);
  storage_ = other.storage_;
  return *this;
}

void Vector::give_back() noexcept {
  if (arrays_ != nullptr) arrays_->pool.give_back(storage_);
}

Vector dot(const Matrix& r, const Vector& x) {
  Arrays& arrays = x.arrays();
  Vector result(arrays);
  arrays.ctx.launch(arrays.dot, arrays.blocks, r.rows[Element::value], x.region()[Element::value],
                    result.rows()[Element::value]);
  return result;
}

Vector operator-(const Vector& a, const Vector& b) {
  Arrays& arrays = a.arrays();
  Vector result(arrays);
  arrays.ctx.launch(arrays.sub, arrays.blocks, a.rows()[Element::value], b.rows()[Element::value],
                    result.rows()[Element::value]);
  return result;
}

Vector operator/(const Vector& a, const Vector& b) {
  Arrays& arrays = a.arrays();
  Vector result(arrays);
  arrays.ctx.launch(arrays.div, arrays.blocks, a.rows()[Element::value], b.rows()[Element::value],
                    result.rows()[Element::value]);
  return result;
}

Future<double> largest_residual(const Matrix& r, const Vector& x, const Vector& b,
                                const Vector& d) {
  const Arrays& arrays = x.arrays();
  return arrays.ctx.reduce(arrays.ctx.launch(arrays.residual, arrays.blocks, r.rows[Element::value],
                                             x.region()[Element::value], b.rows()[Element::value],
                                             d.rows()[Element::value]),
                           Max{});
}

}  // namespace jacobi
