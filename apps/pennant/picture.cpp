#include "picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "../common/picture.hpp"

namespace pennant {

namespace {

constexpr double pixels = 720;  // of the longer side

// A grid of pixels on the mesh; what no zone covers is no number.
class Canvas {
 public:
  explicit Canvas(const std::vector<Vec2>& points) {
    low_ = high_ = points.front();
    for (const Vec2& p : points) {
      low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y)};
      high_ = {std::max(high_.x, p.x), std::max(high_.y, p.y)};
    }
    const Vec2 size = high_ - low_;
    pixel_ = std::max(size.x, size.y) / pixels;
    columns_ = std::max(1, static_cast<int>(std::ceil(size.x / pixel_ - 1e-9)));
    rows_ = std::max(1, static_cast<int>(std::ceil(size.y / pixel_ - 1e-9)));
    values_.assign(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_),
                   std::numeric_limits<double>::quiet_NaN());
  }

  // Of each row of pixels the parts between an edge that is crossed and the next one.
  void fill(const std::vector<Vec2>& corners, double value) {
    double low = corners.front().y, high = low;
    for (const Vec2& c : corners) low = std::min(low, c.y), high = std::max(high, c.y);
    const int last = std::min(rows_ - 1, static_cast<int>((high - low_.y) / pixel_));
    for (int row = std::max(0, static_cast<int>((low - low_.y) / pixel_) - 1); row <= last; ++row) {
      const double y = low_.y + (row + 0.5) * pixel_;
      crossings_.clear();
      for (std::size_t i = 0; i < corners.size(); ++i) {
        const Vec2 &a = corners[i], &b = corners[(i + 1) % corners.size()];
        if ((a.y <= y) != (b.y <= y))
          crossings_.push_back(a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y));
      }
      std::ranges::sort(crossings_);
      for (std::size_t i = 0; i + 1 < crossings_.size(); i += 2)
        fill_row(row, crossings_[i], crossings_[i + 1], value);
    }
  }

  [[nodiscard]] apps::FieldPicture picture(std::string title) && {
    return {.title = std::move(title),
            .values = std::move(values_),
            .rows = rows_,
            .columns = columns_,
            .row_0_below = true};
  }

 private:
  void fill_row(int row, double from, double to, double value) {
    const int first = std::max(0, static_cast<int>(std::ceil((from - low_.x) / pixel_ - 0.5)));
    const int last =
        std::min(columns_ - 1, static_cast<int>(std::floor((to - low_.x) / pixel_ - 0.5)));
    for (int column = first; column <= last; ++column)
      values_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
              static_cast<std::size_t>(column)] = value;
  }

  Vec2 low_, high_;
  double pixel_ = 1;
  int rows_ = 0, columns_ = 0;
  std::vector<double> values_;
  std::vector<double> crossings_;  // of the row at hand
};

}  // namespace

bool can_draw() {
#ifdef PENNANT_DRAWS
  return true;
#else
  return false;
#endif
}

void draw_density([[maybe_unused]] const std::string& file, const Mesh& mesh,
                  const Outcome& outcome) {
  Canvas canvas(outcome.state.position);
  std::vector<Vec2> corners;
  for (Index z = 0; z < mesh.zones(); ++z) {
    corners.clear();
    for (const Index point : mesh.polygon(z))
      corners.push_back(outcome.state.position[static_cast<std::size_t>(point)]);
    canvas.fill(corners, outcome.state.density[static_cast<std::size_t>(z)]);
  }
  char title[80];
  std::snprintf(title, sizeof title, "density after %d cycles, at %.4g", outcome.last.cycle,
                outcome.last.time);
#ifdef PENNANT_DRAWS
  apps::write_picture(file, std::move(canvas).picture(title));
#endif
}

}  // namespace pennant
