#include "tasks.hpp"

#include <algorithm>
#include <stdexcept>

#include "physics.hpp"

namespace s3d::tasks {

using refrain::Rect2;

namespace {

// The place of p, in arrays whose rows are contiguous.
template <class Accessor>
auto* place(const Accessor& a, const Point<2>& p) {
  if (!a.contiguous_rows()) throw std::runtime_error("the simulation wants instances in C order");
  return a.pointer(p);
}

template <class Accessor>
std::ptrdiff_t row_stride(const Accessor& a) {
  return a.stride(0) / static_cast<std::ptrdiff_t>(sizeof(double));
}

// Calls f with the first point of each row, and the number of its points. A tile at the grid's edge may have none.
template <class Accessor, class F>
void each_row(const Accessor& a, const F& f) {
  const Rect2& tile = a.domain().bounds();
  if (tile.empty()) return;
  for (Coord i = tile.lo[0]; i <= tile.hi[0]; ++i)
    f(Point<2>{i, tile.lo[1]}, static_cast<std::ptrdiff_t>(tile.hi[1] - tile.lo[1] + 1));
}

}  // namespace

void Start::operator()(Write<double, 2> value, int quantity) const {
  for (auto p : value.domain()) value[p] = first_value(setup, quantity, p[0], p[1]);
}

void Diffuse::operator()(Write<double, 2> rate, Read<double, 2> around) const {
  each_row(rate, [&](const Point<2>& p, std::ptrdiff_t count) {
    diffuse_row(place(rate, p), place(around, p), row_stride(around), count);
  });
}

void React::operator()(ReadWrite<double, 2> from_rate, ReadWrite<double, 2> to_rate,
                       ReadWrite<double, 2> temperature_rate, Read<double, 2> from,
                       Read<double, 2> temperature) const {
  each_row(from_rate, [&](const Point<2>& p, std::ptrdiff_t count) {
    react_row(place(from_rate, p), place(to_rate, p), place(temperature_rate, p), place(from, p),
              place(temperature, p), setup, count);
  });
}

void Advance::operator()(ReadWrite<double, 2> value, ReadWrite<double, 2> change,
                         Read<double, 2> rate, Stage stage, double dt) const {
  each_row(value, [&](const Point<2>& p, std::ptrdiff_t count) {
    advance_row(place(value, p), place(change, p), place(rate, p), stage, dt, count);
  });
}

void Filter::operator()(Write<double, 2> smooth, Read<double, 2> around) const {
  each_row(smooth, [&](const Point<2>& p, std::ptrdiff_t count) {
    filter_row(place(smooth, p), place(around, p), row_stride(around), count);
  });
}

void Accept::operator()(Write<double, 2> value, Read<double, 2> smooth, Point<2> tile) const {
  each_row(value, [&](const Point<2>& p, std::ptrdiff_t count) {
    std::copy_n(place(smooth, p), count, place(value, p));
  });
  if (tile == refrain::Point2{0, 0}) progress->step();
}

}  // namespace s3d::tasks
