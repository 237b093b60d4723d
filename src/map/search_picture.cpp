#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "map/pictures.hpp"
#include "picture/canvas.hpp"

namespace refrain::map {
namespace {

using map_search::Objective;
using picture::Align, picture::Canvas, picture::Colour, picture::kInk, picture::kPale;

// In pixels.
constexpr double kWidth = 900, kHeight = 460;
constexpr double kLeft = 84, kRight = 190, kTop = 56, kBottom = 62;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr int kMostTicks = 8;
constexpr double kLargestLinear = 10;  ///< times the smallest value

/// Okabe and Ito's, which differ for colour-blind people; the dashes differ in grey.
struct Pen {
  Colour colour;
  std::vector<double> dashes;
};
const std::array<Pen, 6> pens{{{{0.0, 0.45, 0.70}, {}},
                               {{0.84, 0.37, 0.0}, {8, 3}},
                               {{0.0, 0.62, 0.45}, {2, 3}},
                               {{0.0, 0.0, 0.0}, {8, 3, 2, 3}},
                               {{0.80, 0.47, 0.65}, {14, 4}},
                               {{0.34, 0.71, 0.91}, {4, 4}}}};

struct Unit {
  double size;
  const char* name;
};
constexpr std::array<Unit, 4> kShortTimes{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
constexpr std::array<Unit, 3> kLongTimes{{{3600, "h"}, {60, "min"}, {1, "s"}}};
constexpr std::array<Unit, 5> kSizes{
    {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}}};
/// The largest unit of which `largest` has so many.
template <std::size_t n>
Unit unit_for(const std::array<Unit, n>& units, double largest, double least = 1) {
  for (const Unit& unit : units)
    if (largest >= least * unit.size) return unit;
  return units.back();
}

/// Where values are along an axis, in the axis's unit.
struct Axis {
  Unit unit{1, ""};
  bool logarithmic = false;
  double begin = 0, end = 1;
  std::vector<double> ticks;

  /// From 0 to 1.
  [[nodiscard]] double place(double value) const {
    value /= unit.size;
    if (!logarithmic) return (value - begin) / (end - begin);
    return std::log(value / begin) / std::log(end / begin);
  }
};

/// 1, 2 or 5 times a power of ten.
double next_round(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double digit : {1, 2, 5})
    if (digit * power >= value * (1 - 1e-9)) return digit * power;
  return 10 * power;
}

Axis linear_axis(Unit unit, double largest) {
  Axis axis{unit, false, 0, largest > 0 ? largest / unit.size : 1, {}};
  const double step = next_round(axis.end / kMostTicks);
  for (int i = 0; i * step <= axis.end * (1 + 1e-9); ++i) axis.ticks.push_back(i * step);
  return axis;
}

/// From a power of ten to one. With few of them there are ticks between.
Axis logarithmic_axis(Unit unit, double smallest, double largest) {
  const int first = static_cast<int>(std::floor(std::log10(smallest / unit.size)));
  const int last = static_cast<int>(std::ceil(std::log10(largest / unit.size)));
  Axis axis{unit, true, std::pow(10, first), std::pow(10, last), {}};
  const int stride = 1 + (last - first) / kMostTicks;
  for (int power = first; power <= last; power += stride)
    for (const double digit : {1, 2, 5})
      if (digit == 1 || (last - first <= 3 && power < last))
        axis.ticks.push_back(digit * std::pow(10, power));
  return axis;
}

std::string number(double value) { return fmt::format("{:.10g}", value); }

/// The parts of the picture, each a function.
class SearchDrawing {
 public:
  SearchDrawing(const std::string& title, Objective objective, const std::vector<Series>& series)
      : title_(title), objective_(objective), series_(series) {
    double longest = 0, largest = 0;
    double smallest = std::numeric_limits<double>::infinity();
    for (const Series& one : series)
      for (const auto& [seconds, best] : one.points) {
        longest = std::max(longest, seconds);
        if (!std::isfinite(best)) continue;
        largest = std::max(largest, best);
        smallest = std::min(smallest, best);
      }
    across_ = linear_axis(unit_for(kLongTimes, longest, 3), longest);
    const Unit unit =
        objective == Objective::time ? unit_for(kShortTimes, largest) : unit_for(kSizes, largest);
    up_ = smallest > 0 && largest > kLargestLinear * smallest
              ? logarithmic_axis(unit, smallest, largest)
              : linear_axis(unit, 1.05 * largest);
  }

  [[nodiscard]] std::string description() const {
    std::string text = title_;
    for (const Series& one : series_) {
      text += "\n" + one.name + ":";
      for (const auto& [seconds, best] : one.points)
        text += fmt::format(" {} from {} s on,", value(best), number(seconds));
      text.pop_back();
    }
    return text;
  }

  void draw(Canvas& canvas) const {
    draw_axes(canvas);
    for (std::size_t i = 0; i < series_.size(); ++i)
      draw_series(canvas, series_[i], pens[i % pens.size()]);
    draw_legend(canvas);
    canvas.colour(kInk);
    canvas.text(kLeft, 30, canvas.fitted(title_, 17, kWidth - kLeft - 8), 17);
  }

 private:
  [[nodiscard]] double x(double seconds) const {
    return kLeft + kPlotWidth * across_.place(seconds);
  }
  [[nodiscard]] double y(double best) const { return kTop + kPlotHeight * (1 - up_.place(best)); }
  [[nodiscard]] std::string value(double best) const {
    return number(best) + (objective_ == Objective::time ? " s" : " B");
  }

  void draw_axes(Canvas& canvas) const {
    const double bottom = kTop + kPlotHeight;
    for (const double tick : up_.ticks) {
      const double at = y(tick * up_.unit.size);
      canvas.colour(kPale);
      canvas.stroke(kLeft, at, kWidth - kRight, at, 1);
      canvas.colour(kInk);
      canvas.text(kLeft - 8, at + 4, number(tick), 12, Align::right);
    }
    canvas.colour(kInk);
    canvas.stroke(kLeft, kTop, kLeft, bottom, 1);
    canvas.stroke(kLeft, bottom, kWidth - kRight, bottom, 1);
    for (const double tick : across_.ticks) {
      const double at = x(tick * across_.unit.size);
      canvas.stroke(at, bottom, at, bottom + 5, 1);
      canvas.text(at, bottom + 20, number(tick), 12, Align::centre);
    }
    canvas.text(kLeft + kPlotWidth / 2, kHeight - 16,
                fmt::format("time of the search ({})", across_.unit.name), 13, Align::centre);
    canvas.upright_text(
        20, kTop + kPlotHeight / 2,
        fmt::format("best {} so far ({})",
                    objective_ == Objective::time ? "time of a run" : "volume of copies",
                    up_.unit.name),
        13);
  }

  static void pen(Canvas& canvas, const Pen& pen) {
    canvas.colour(pen.colour);
    cairo_set_dash(canvas.cr(), pen.dashes.data(), static_cast<int>(pen.dashes.size()), 0);
  }

  void draw_series(Canvas& canvas, const Series& series, const Pen& with) const {
    std::optional<double> before;
    for (const auto& [seconds, best] : series.points) {
      if (!std::isfinite(best)) continue;
      if (before) cairo_line_to(canvas.cr(), x(seconds), *before);
      before = y(best);
      cairo_line_to(canvas.cr(), x(seconds), *before);
    }
    pen(canvas, with);
    cairo_set_line_width(canvas.cr(), 2.5);
    cairo_stroke(canvas.cr());
    cairo_set_dash(canvas.cr(), nullptr, 0, 0);
    if (!series.points.empty() && std::isfinite(series.points.front().second))
      disc(canvas, x(series.points.front().first), y(series.points.front().second));
  }

  static void disc(Canvas& canvas, double at_x, double at_y) {
    cairo_arc(canvas.cr(), at_x, at_y, 5, 0, 2 * std::numbers::pi);
    cairo_fill(canvas.cr());
  }

  /// Beside the plot.
  void draw_legend(Canvas& canvas) const {
    constexpr double from = kWidth - kRight + 20, words = from + 44, line = 20;
    double at = kTop + 14;
    for (std::size_t i = 0; i < series_.size(); ++i, at += line) {
      pen(canvas, pens[i % pens.size()]);
      canvas.stroke(from, at - 4, from + 36, at - 4, 2.5);
      cairo_set_dash(canvas.cr(), nullptr, 0, 0);
      canvas.colour(kInk);
      canvas.text(words, at, canvas.fitted(series_[i].name, 13, kWidth - 8 - words), 13);
    }
    canvas.colour(kInk);
    disc(canvas, from + 18, at - 4);
    canvas.text(words, at, "the starting point", 13);
  }

  const std::string& title_;
  const Objective objective_;
  const std::vector<Series>& series_;
  Axis across_, up_;
};

}  // namespace

std::string draw_search(const std::string& title, Objective objective,
                        const std::vector<Series>& series) {
  const SearchDrawing drawing(title, objective, series);
  return picture::draw(kWidth, kHeight, picture::Format::svg, drawing.description(),
                       [&](Canvas& canvas) { drawing.draw(canvas); });
}

}  // namespace refrain::map
