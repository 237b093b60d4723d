#pragma once
// As much of an array library as Figure 1 needs: dense vectors and a matrix, in blocks of rows. Each
// operation is one group launch, with the figure's names and the order of its arguments, and its result a
// new Vector. A Vector ends like any C++ value, and its region goes back to the pool:
//
//   x = (b - dot(R, x)) / d;      DOT(R, x1, t1)  SUB(b, t1, t2)  DIV(t2, d, x2)
//
// x1 is given back when x is assigned to; t2 and t1, temporaries, at the end of the statement. So the next
// one takes t1 and t2 again, and then x1.

#include <cstdint>
#include <utility>

#include "../common/progress.hpp"
#include "pool.hpp"
#include "setup.hpp"

namespace jacobi {

struct Arrays;

class Vector {
 public:
  explicit Vector(Arrays& arrays);
  Vector(Vector&& other) noexcept
      : arrays_(std::exchange(other.arrays_, nullptr)), storage_(other.storage_) {}
  Vector& operator=(Vector&& other) noexcept;
  ~Vector() { give_back(); }

  [[nodiscard]] const refrain::Region<1>& region() const { return storage_.region; }
  [[nodiscard]] const refrain::Partition<1>& rows() const { return storage_.rows; }
  [[nodiscard]] Arrays& arrays() const { return *arrays_; }

 private:
  void give_back() noexcept;

  Arrays* arrays_;  // null when its region has moved on
  Storage storage_;
};

struct Matrix {
  refrain::Region<2> region;
  refrain::Partition<2> rows;
};

namespace bodies {

using refrain::Point;
using refrain::Read;
using refrain::Write;

struct Dot {
  void operator()(Read<double, 2> matrix, Read<double> x, Write<double> result) const;
};
struct Sub {
  void operator()(Read<double> a, Read<double> b, Write<double> result) const;
};
struct Div {
  void operator()(Read<double> a, Read<double> b, Write<double> result, Point<1> block) const;
  apps::Progress* progress;  // a division ends an iteration
};
struct Residual {
  double operator()(Read<double, 2> matrix, Read<double> x, Read<double> b, Read<double> d) const;
};

}  // namespace bodies

struct Arrays {
  Arrays(refrain::Context& context, const Setup& setup, apps::Progress& progress);

  refrain::Context& ctx;
  const std::int64_t blocks;
  Pool pool;
  const refrain::Task<bodies::Dot> dot;
  const refrain::Task<bodies::Sub> sub;
  const refrain::Task<bodies::Div> div;
  const refrain::Task<bodies::Residual> residual;
};

Vector dot(const Matrix& r, const Vector& x);
Vector operator-(const Vector& a, const Vector& b);
Vector operator/(const Vector& a, const Vector& b);
/// The largest of |(b - R x) / d - x|. Makes no array, so it does not disturb the order of the pool.
refrain::Future<double> largest_residual(const Matrix& r, const Vector& x, const Vector& b,
                                         const Vector& d);

}  // namespace jacobi
