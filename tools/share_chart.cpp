#include "share_chart.hpp"

#include <cairo.h>

#include "base/text.hpp"
#include "refrain/error.hpp"

namespace refrain::tools {
namespace {

using picture::Align, picture::Canvas, picture::Colour, picture::kInk, picture::kPale;

// In pixels.
constexpr double kWidth = 900, kHeight = 420;
constexpr double kLeft = 76, kRight = 24, kTop = 72, kBottom = 62;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr std::uint64_t kMostTicks = 10;

constexpr Colour kBlue{0.12, 0.40, 0.68}, kLightBlue{0.90, 0.94, 0.98}, kOrange{0.84, 0.37, 0.0},
    kGreen{0.0, 0.45, 0.30};

/// The parts of a chart, each a function, on one canvas.
class Drawing {
 public:
  Drawing(Canvas& canvas, const ShareChart& chart) : chart_(chart), canvas_(canvas) {}

  void draw() {
    draw_area();
    draw_grid();
    draw_line();
    draw_milestone();
    draw_axes();
    draw_marks();
    draw_titles();
  }

 private:
  [[nodiscard]] cairo_t* cr() const { return canvas_.cr(); }
  [[nodiscard]] double x(std::uint64_t count) const {
    return kLeft + kPlotWidth * static_cast<double>(count) / static_cast<double>(chart_.end);
  }
  [[nodiscard]] static double y(double share) { return kTop + kPlotHeight * (1 - share); }

  void draw_grid() {
    canvas_.colour(kPale);
    for (int tenths = 2; tenths <= 10; tenths += 2)
      canvas_.stroke(kLeft, y(tenths / 10.0), kWidth - kRight, y(tenths / 10.0), 1);
  }

  /// A path that has not been drawn yet.
  void follow_line() {
    for (const ShareChart::Point& point : chart_.line)
      cairo_line_to(cr(), x(point.count), y(point.share));
  }
  void draw_area() {
    if (chart_.line.empty()) return;
    follow_line();
    cairo_line_to(cr(), x(chart_.line.back().count), y(0));
    cairo_line_to(cr(), x(chart_.line.front().count), y(0));
    canvas_.colour(kLightBlue);
    cairo_fill(cr());
  }
  void draw_line() {
    follow_line();
    canvas_.colour(kBlue);
    cairo_set_line_width(cr(), 2);
    cairo_set_line_join(cr(), CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cr());
  }

  void draw_milestone() {
    if (!chart_.milestone) return;
    const double at = x(chart_.milestone->at);
    const double dashes[] = {5, 4};
    canvas_.colour(kGreen);
    cairo_set_dash(cr(), dashes, 2, 0);
    canvas_.stroke(at, y(1), at, y(0), 1.5);
    cairo_set_dash(cr(), nullptr, 0, 0);
    const bool left_of_it = at > kLeft + kPlotWidth / 2;
    canvas_.text(left_of_it ? at - 7 : at + 7, y(0) - 12, chart_.milestone->name, 13,
                 left_of_it ? Align::right : Align::left);
  }

  void draw_axes() {
    canvas_.colour(kInk);
    canvas_.stroke(kLeft, y(1), kLeft, y(0), 1);
    canvas_.stroke(kLeft, y(0), kWidth - kRight, y(0), 1);
    for (int tenths = 0; tenths <= 10; tenths += 2) {
      const double at = y(tenths / 10.0);
      canvas_.stroke(kLeft - 5, at, kLeft, at, 1);
      canvas_.text(kLeft - 9, at + 4, std::to_string(10 * tenths) + " %", 12, Align::right);
    }
    for (const std::uint64_t count : ticks(chart_.end, kMostTicks)) {
      canvas_.stroke(x(count), y(0), x(count), y(0) + 5, 1);
      canvas_.text(x(count), y(0) + 20, grouped(count), 12, Align::centre);
    }
    canvas_.text(kLeft + kPlotWidth / 2, kHeight - 16, chart_.count_name, 13, Align::centre);
    canvas_.upright_text(20, kTop + kPlotHeight / 2, chart_.share_name, 13);
  }

  void triangle(double tip_x, double tip_y) {
    cairo_move_to(cr(), tip_x, tip_y);
    cairo_line_to(cr(), tip_x - 4, tip_y - 8);
    cairo_line_to(cr(), tip_x + 4, tip_y - 8);
    cairo_close_path(cr());
    cairo_fill(cr());
  }

  void draw_marks() {
    if (chart_.marks.empty()) return;
    canvas_.colour(kOrange);
    for (const std::uint64_t mark : chart_.marks) triangle(x(mark), y(1) - 1);
    const double begin = kWidth - kRight - canvas_.width_of(chart_.mark_name, 13);
    triangle(begin - 10, kHeight - 16);
    canvas_.text(begin, kHeight - 16, chart_.mark_name, 13);
  }

  void draw_titles() {
    canvas_.colour(kInk);
    canvas_.text(kLeft, 26, chart_.title, 17);
    canvas_.text(kLeft, 46, chart_.subtitle, 12);
  }

  const ShareChart& chart_;
  Canvas& canvas_;
};

}  // namespace

PictureFormat picture_format(const std::string& path) {
  if (path.ends_with(".svg")) return PictureFormat::svg;
  if (path.ends_with(".png")) return PictureFormat::png;
  throw InputError("expected the name of a picture that ends in .svg or .png, found '" + path +
                   "'");
}

std::string draw(const ShareChart& chart, PictureFormat format) {
  return picture::draw(kWidth, kHeight, format, {},
                       [&](Canvas& canvas) { Drawing(canvas, chart).draw(); });
}

std::vector<std::uint64_t> ticks(std::uint64_t end, std::uint64_t most) {
  std::uint64_t step = 1;
  // 1, 2, 5, 10, ...
  for (unsigned i = 0; end / step > most; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 0; i <= end / step; ++i) found.push_back(i * step);
  return found;
}

}  // namespace refrain::tools
