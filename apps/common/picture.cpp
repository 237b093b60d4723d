#include "picture.hpp"

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>

#include "refrain/runtime.hpp"

namespace apps {

namespace {

constexpr std::int64_t kLeastPixels = 480, kMostPixels = 1600;  // of a field's longer side
constexpr double kMargin = 16, kTitleHeight = 36, kBarWidth = 16, kLabelWidth = 84;
constexpr double kPlotWidth = 640, kPlotHeight = 400, kPlotLeft = 84, kPlotTop = 64,
                 kPlotBottom = 60, kPlotRight = 28;
constexpr int kTicks = 5;

struct Colour {
  double red, green, blue;
};
constexpr Colour kInk{0.13, 0.13, 0.13}, kPale{0.88, 0.88, 0.88}, kGrey{0.6, 0.6, 0.6};

// viridis (Smith and van der Walt, 2015) at equal distances; as bright as the value is large, also without colours.
constexpr Colour kViridis[] = {{0.267, 0.005, 0.329}, {0.283, 0.141, 0.458}, {0.254, 0.265, 0.530},
                               {0.207, 0.372, 0.553}, {0.164, 0.471, 0.558}, {0.128, 0.567, 0.551},
                               {0.135, 0.659, 0.518}, {0.267, 0.749, 0.441}, {0.478, 0.821, 0.318},
                               {0.741, 0.873, 0.150}, {0.993, 0.906, 0.144}};
// Okabe and Ito's, which people with any kind of colour vision can tell apart.
constexpr Colour kCurves[] = {{0.00, 0.45, 0.70}, {0.84, 0.37, 0.00}, {0.00, 0.62, 0.45},
                              {0.80, 0.47, 0.65}, {0.90, 0.62, 0.00}, {0.34, 0.71, 0.91},
                              {0.13, 0.13, 0.13}, {0.55, 0.50, 0.10}};
constexpr std::size_t kMostCurves = std::size(kCurves);

/// Of a share of the way from the smallest value to the largest.
Colour colour_of(double share) {
  if (std::isnan(share)) return kGrey;
  constexpr auto last = std::size(kViridis) - 1;
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(last);
  const std::size_t i = std::min(static_cast<std::size_t>(place), last - 1);
  const double t = place - static_cast<double>(i);
  const Colour &a = kViridis[i], &b = kViridis[i + 1];
  return {a.red + t * (b.red - a.red), a.green + t * (b.green - a.green),
          a.blue + t * (b.blue - a.blue)};
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Where values may be missing or all the same.
  void widen() {
    if (low > high) *this = {0, 1};
    if (low == high) {
      const double around = std::max(std::abs(low), 1.0) / 2;
      low -= around;
      high += around;
    }
  }
  [[nodiscard]] double share(double value) const { return (value - low) / (high - low); }
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

struct Destroy {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
  void operator()(cairo_pattern_t* pattern) const { cairo_pattern_destroy(pattern); }
};

void check(cairo_status_t status, const std::string& path) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw std::runtime_error("cannot write the picture " + path + ": " +
                             cairo_status_to_string(status));
}

enum class Align { left, centre, right };

/// A white page, and what both kinds of pictures draw with.
class Page {
 public:
  Page(double width, double height)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width),
                                            static_cast<int>(height))),
        cairo_(cairo_create(surface_.get())) {
    cairo_select_font_face(cr(), "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    colour({1, 1, 1});
    cairo_paint(cr());
    colour(kInk);
  }
  [[nodiscard]] cairo_t* cr() const { return cairo_.get(); }
  void colour(Colour c) { cairo_set_source_rgb(cr(), c.red, c.green, c.blue); }
  void line(double x0, double y0, double x1, double y1) {
    cairo_move_to(cr(), x0, y0);
    cairo_line_to(cr(), x1, y1);
    cairo_stroke(cr());
  }
  double width_of(const std::string& words) {
    cairo_text_extents_t extents;
    cairo_text_extents(cr(), words.c_str(), &extents);
    return extents.x_advance;
  }
  /// With its base line at y.
  void text(double x, double y, const std::string& words, double size, Align align = Align::left) {
    cairo_set_font_size(cr(), size);
    if (align != Align::left) x -= width_of(words) / (align == Align::centre ? 2 : 1);
    cairo_move_to(cr(), x, y);
    cairo_show_text(cr(), words.c_str());
  }
  void write(const std::string& path) {
    check(cairo_status(cr()), path);
    check(cairo_surface_write_to_png(surface_.get(), path.c_str()), path);
  }

 private:
  std::unique_ptr<cairo_surface_t, Destroy> surface_;
  std::unique_ptr<cairo_t, Destroy> cairo_;
};

// --- fields -----------------------------------------------------------------------------------------------

/// A field that has been averaged to at most kMostPixels, and how it lies on the page.
class FieldDrawing {
 public:
  explicit FieldDrawing(const FieldPicture& picture) : picture_(picture) {
    const std::int64_t longer = std::max(picture.rows, picture.columns);
    const std::int64_t square = (longer + kMostPixels - 1) / kMostPixels;
    rows_ = (picture.rows + square - 1) / square;
    columns_ = (picture.columns + square - 1) / square;
    const std::int64_t shown = std::max(rows_, columns_);
    const std::int64_t scale = (kLeastPixels + shown - 1) / shown;  // whole pixels
    scale_ = static_cast<double>(scale);
    average(square);
    Range found;
    for (const double value : values_) found.include(value);
    if (picture.low) found.low = *picture.low;
    if (picture.high) found.high = *picture.high;
    found.widen();
    range_ = found;
  }

  void write(const std::string& path) {
    const double body = std::max(height(), 2 * kMargin);
    Page page(3 * kMargin + width() + kBarWidth + kLabelWidth, kTitleHeight + body + kMargin);
    page.text(kMargin, kTitleHeight - 12, picture_.title, 15);
    draw_values(page, path);
    if (!picture_.along_columns.empty()) draw_arrows(page);
    draw_bar(page, 2 * kMargin + width(), body);
    page.write(path);
  }

 private:
  [[nodiscard]] double width() const { return scale_ * static_cast<double>(columns_); }
  [[nodiscard]] double height() const { return scale_ * static_cast<double>(rows_); }

  void average(std::int64_t square) {
    const auto at = [&](std::int64_t i, std::int64_t j) {
      return picture_.values[static_cast<std::size_t>(i * picture_.columns + j)];
    };
    values_.reserve(static_cast<std::size_t>(rows_ * columns_));
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::int64_t last_row = std::min((i + 1) * square, picture_.rows);
      for (std::int64_t j = 0; j < columns_; ++j) {
        const std::int64_t last_column = std::min((j + 1) * square, picture_.columns);
        double sum = 0;
        for (std::int64_t r = i * square; r < last_row; ++r)
          for (std::int64_t c = j * square; c < last_column; ++c) sum += at(r, c);
        const std::int64_t count = (last_row - i * square) * (last_column - j * square);
        values_.push_back(sum / static_cast<double>(count));
      }
    }
  }

  void draw_values(Page& page, const std::string& path) {
    const std::unique_ptr<cairo_surface_t, Destroy> image(cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, static_cast<int>(columns_), static_cast<int>(rows_)));
    check(cairo_surface_status(image.get()), path);
    cairo_surface_flush(image.get());
    unsigned char* bytes = cairo_image_surface_get_data(image.get());
    const int stride = cairo_image_surface_get_stride(image.get());
    const auto byte = [](double share) {
      return static_cast<std::uint32_t>(std::lround(255 * share));
    };
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::int64_t line = picture_.row_0_below ? rows_ - 1 - i : i;
      auto* pixels = reinterpret_cast<std::uint32_t*>(bytes + line * stride);
      for (std::int64_t j = 0; j < columns_; ++j) {
        const double value = values_[static_cast<std::size_t>(i * columns_ + j)];
        const Colour c = std::isfinite(value) ? colour_of(range_.share(value)) : kGrey;
        pixels[j] = byte(c.red) << 16 | byte(c.green) << 8 | byte(c.blue);
      }
    }
    cairo_surface_mark_dirty(image.get());
    cairo_save(page.cr());
    cairo_translate(page.cr(), kMargin, kTitleHeight);
    cairo_scale(page.cr(), scale_, scale_);
    cairo_set_source_surface(page.cr(), image.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(page.cr()), CAIRO_FILTER_NEAREST);
    cairo_paint(page.cr());
    cairo_restore(page.cr());
  }

  /// Some twenty along the longer side, the longest as long as they are apart.
  void draw_arrows(Page& page) {
    constexpr double apart = 24;
    double longest = 0;
    for (std::size_t i = 0; i < picture_.along_columns.size(); ++i)
      longest = std::max(longest, std::hypot(picture_.along_columns[i], picture_.along_rows[i]));
    if (!(longest > 0) || !std::isfinite(longest)) return;
    page.colour({1, 1, 1});
    cairo_set_line_width(page.cr(), 1.2);
    for (double y = apart / 2; y < height(); y += apart) {
      for (double x = apart / 2; x < width(); x += apart) {
        const auto line =
            static_cast<std::int64_t>(y / height() * static_cast<double>(picture_.rows));
        const auto column =
            static_cast<std::int64_t>(x / width() * static_cast<double>(picture_.columns));
        const std::int64_t row = picture_.row_0_below ? picture_.rows - 1 - line : line;
        const auto at = static_cast<std::size_t>(row * picture_.columns + column);
        const double upwards = picture_.row_0_below ? -1 : 1;
        draw_arrow(page, kMargin + x, kTitleHeight + y,
                   apart * picture_.along_columns[at] / longest,
                   apart * upwards * picture_.along_rows[at] / longest);
      }
    }
    page.colour(kInk);
  }
  static void draw_arrow(Page& page, double x, double y, double dx, double dy) {
    if (std::hypot(dx, dy) < 1) return;
    const double end_x = x + dx / 2, end_y = y + dy / 2;
    page.line(x - dx / 2, y - dy / 2, end_x, end_y);
    for (const double side : {-0.5, 0.5})
      page.line(end_x, end_y, end_x - 0.3 * (dx + side * dy), end_y - 0.3 * (dy - side * dx));
  }

  void draw_bar(Page& page, double x, double body) {
    const std::unique_ptr<cairo_pattern_t, Destroy> colours(
        cairo_pattern_create_linear(0, kTitleHeight + body, 0, kTitleHeight));
    for (std::size_t i = 0; i < std::size(kViridis); ++i) {
      const Colour& c = kViridis[i];
      cairo_pattern_add_color_stop_rgb(
          colours.get(), static_cast<double>(i) / static_cast<double>(std::size(kViridis) - 1),
          c.red, c.green, c.blue);
    }
    cairo_rectangle(page.cr(), x, kTitleHeight, kBarWidth, body);
    cairo_set_source(page.cr(), colours.get());
    cairo_fill(page.cr());
    page.colour(kInk);
    const int ticks = body > 120 ? kTicks : 2;
    for (int i = 0; i < ticks; ++i) {
      const double share = static_cast<double>(i) / (ticks - 1);
      page.text(x + kBarWidth + 6, kTitleHeight + 10 + (body - 10) * (1 - share),
                number(range_.low + share * (range_.high - range_.low)), 12);
    }
  }

  const FieldPicture& picture_;
  std::int64_t rows_, columns_;
  double scale_;
  std::vector<double> values_;
  Range range_;
};

// --- curves -----------------------------------------------------------------------------------------------

class CurveDrawing {
 public:
  explicit CurveDrawing(const CurvePicture& picture)
      : picture_(picture),
        page_(kPlotLeft + kPlotWidth + kPlotRight, kPlotTop + kPlotHeight + kPlotBottom) {
    for (const Curve& curve : picture.curves) {
      for (const double x : curve.x) x_.include(x);
      for (const double y : curve.y) y_.include(y);
    }
    x_.widen();
    y_.widen();
  }

  void write(const std::string& path) {
    page_.text(kPlotLeft, 24, picture_.title, 15);
    draw_axes();
    for (std::size_t i = 0; i < picture_.curves.size(); ++i) draw_curve(i);
    draw_names();
    page_.write(path);
  }

 private:
  [[nodiscard]] double x(double value) const { return kPlotLeft + kPlotWidth * x_.share(value); }
  [[nodiscard]] double y(double value) const {
    return kPlotTop + kPlotHeight * (1 - y_.share(value));
  }
  static double between(const Range& range, int tick) {
    return range.low + (range.high - range.low) * tick / (kTicks - 1);
  }

  void draw_axes() {
    cairo_set_line_width(page_.cr(), 1);
    for (int i = 0; i < kTicks; ++i) {
      const double at_x = between(x_, i), at_y = between(y_, i);
      page_.colour(kPale);
      page_.line(x(at_x), kPlotTop, x(at_x), kPlotTop + kPlotHeight);
      page_.line(kPlotLeft, y(at_y), kPlotLeft + kPlotWidth, y(at_y));
      page_.colour(kInk);
      page_.text(x(at_x), kPlotTop + kPlotHeight + 18, number(at_x), 12, Align::centre);
      page_.text(kPlotLeft - 8, y(at_y) + 4, number(at_y), 12, Align::right);
    }
    page_.line(kPlotLeft, kPlotTop, kPlotLeft, kPlotTop + kPlotHeight);
    page_.line(kPlotLeft, kPlotTop + kPlotHeight, kPlotLeft + kPlotWidth, kPlotTop + kPlotHeight);
    page_.text(kPlotLeft + kPlotWidth / 2, kPlotTop + kPlotHeight + 42, picture_.x_name, 13,
               Align::centre);
    cairo_save(page_.cr());
    cairo_translate(page_.cr(), 20, kPlotTop + kPlotHeight / 2);
    cairo_rotate(page_.cr(), -std::acos(0.0));
    page_.text(0, 0, picture_.y_name, 13, Align::centre);
    cairo_restore(page_.cr());
  }

  /// Later ones are dashed, so that one that lies on another shows both.
  void draw_curve(std::size_t i) {
    const Curve& curve = picture_.curves[i];
    pen(i);
    cairo_new_path(page_.cr());  // text leaves a point
    for (std::size_t k = 0; k < curve.x.size(); ++k) {
      if (std::isfinite(curve.x[k]) && std::isfinite(curve.y[k]))
        cairo_line_to(page_.cr(), x(curve.x[k]), y(curve.y[k]));
      else cairo_new_sub_path(page_.cr());
    }
    cairo_stroke(page_.cr());
    cairo_set_dash(page_.cr(), nullptr, 0, 0);
  }
  void pen(std::size_t i) {
    const double dashes[] = {6, 6};
    page_.colour(kCurves[i]);
    cairo_set_line_width(page_.cr(), i == 0 ? 3 : 2);
    cairo_set_line_join(page_.cr(), CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(page_.cr(), dashes, i == 0 ? 0 : 2, 0);
  }

  void draw_names() {
    double at = kPlotLeft;
    for (std::size_t i = 0; i < picture_.curves.size(); ++i) {
      pen(i);
      page_.line(at, 42, at + 24, 42);
      cairo_set_dash(page_.cr(), nullptr, 0, 0);
      page_.colour(kInk);
      page_.text(at + 30, 46, picture_.curves[i].name, 13);
      at += 30 + page_.width_of(picture_.curves[i].name) + 20;
    }
  }

  const CurvePicture& picture_;
  Page page_;
  Range x_, y_;
};

}  // namespace

void write_picture(const std::string& path, const FieldPicture& picture) {
  if (refrain::processes().rank != 0) return;
  const auto points = static_cast<std::size_t>(picture.rows * picture.columns);
  if (picture.rows < 1 || picture.columns < 1 || picture.values.size() != points)
    throw std::invalid_argument("the picture " + path + " wants rows times columns values");
  if (picture.along_columns.size() != picture.along_rows.size() ||
      (!picture.along_columns.empty() && picture.along_columns.size() != points))
    throw std::invalid_argument("the picture " + path + " wants an arrow for each value");
  FieldDrawing(picture).write(path);
}

void write_picture(const std::string& path, const CurvePicture& picture) {
  if (refrain::processes().rank != 0) return;
  if (picture.curves.empty() || picture.curves.size() > kMostCurves)
    throw std::invalid_argument("the picture " + path + " wants one to eight curves");
  for (const Curve& curve : picture.curves)
    if (curve.x.size() != curve.y.size())
      throw std::invalid_argument("the curve '" + curve.name + "' wants a y for each x");
  CurveDrawing(picture).write(path);
}

}  // namespace apps
