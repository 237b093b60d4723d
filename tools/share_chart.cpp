#include "share_chart.hpp"

#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "refrain/error.hpp"

namespace refrain::tools {
namespace {

// In pixels; a PNG has four for each, so that it is sharp on screens with small ones.
constexpr double kWidth = 900, kHeight = 420;
constexpr double kLeft = 76, kRight = 24, kTop = 72, kBottom = 62;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr double kPngScale = 2;
constexpr std::uint64_t kMostTicks = 10;

struct Colour {
  double red, green, blue;
};
constexpr Colour kInk{0.13, 0.13, 0.13}, kPale{0.88, 0.88, 0.88}, kBlue{0.12, 0.40, 0.68},
    kLightBlue{0.90, 0.94, 0.98}, kOrange{0.84, 0.37, 0.0}, kGreen{0.0, 0.45, 0.30};

struct Destroy {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
};
using Surface = std::unique_ptr<cairo_surface_t, Destroy>;
using Cairo = std::unique_ptr<cairo_t, Destroy>;

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw Error(std::string("the picture cannot be drawn: ") + cairo_status_to_string(status));
}

cairo_status_t append(void* bytes, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

enum class Align { left, centre, right };

/// The parts of a chart, each a function, on one surface.
class Drawing {
 public:
  Drawing(cairo_surface_t* surface, const ShareChart& chart)
      : chart_(chart), cairo_(cairo_create(surface)) {
    cairo_select_font_face(cr(), "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  }

  void draw() {
    colour({1, 1, 1});
    cairo_paint(cr());
    draw_area();
    draw_grid();
    draw_line();
    draw_milestone();
    draw_axes();
    draw_marks();
    draw_titles();
    check(cairo_status(cr()));
  }

 private:
  [[nodiscard]] cairo_t* cr() const { return cairo_.get(); }
  [[nodiscard]] double x(std::uint64_t count) const {
    return kLeft + kPlotWidth * static_cast<double>(count) / static_cast<double>(chart_.end);
  }
  [[nodiscard]] static double y(double share) { return kTop + kPlotHeight * (1 - share); }

  void colour(Colour c) { cairo_set_source_rgb(cr(), c.red, c.green, c.blue); }
  void stroke(double x0, double y0, double x1, double y1, double width) {
    cairo_move_to(cr(), x0, y0);
    cairo_line_to(cr(), x1, y1);
    cairo_set_line_width(cr(), width);
    cairo_stroke(cr());
  }
  [[nodiscard]] double width_of(const std::string& words) const {
    cairo_text_extents_t extents;
    cairo_text_extents(cr(), words.c_str(), &extents);
    return extents.x_advance;
  }
  /// With its base line at y.
  void text(double at_x, double at_y, const std::string& words, double size,
            Align align = Align::left) {
    cairo_set_font_size(cr(), size);
    if (align != Align::left) at_x -= width_of(words) / (align == Align::centre ? 2 : 1);
    cairo_move_to(cr(), at_x, at_y);
    cairo_show_text(cr(), words.c_str());
  }

  void draw_grid() {
    colour(kPale);
    for (int tenths = 2; tenths <= 10; tenths += 2)
      stroke(kLeft, y(tenths / 10.0), kWidth - kRight, y(tenths / 10.0), 1);
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
    colour(kLightBlue);
    cairo_fill(cr());
  }
  void draw_line() {
    follow_line();
    colour(kBlue);
    cairo_set_line_width(cr(), 2);
    cairo_set_line_join(cr(), CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cr());
  }

  void draw_milestone() {
    if (!chart_.milestone) return;
    const double at = x(chart_.milestone->at);
    const double dashes[] = {5, 4};
    colour(kGreen);
    cairo_set_dash(cr(), dashes, 2, 0);
    stroke(at, y(1), at, y(0), 1.5);
    cairo_set_dash(cr(), nullptr, 0, 0);
    const bool left_of_it = at > kLeft + kPlotWidth / 2;
    text(left_of_it ? at - 7 : at + 7, y(0) - 12, chart_.milestone->name, 13,
         left_of_it ? Align::right : Align::left);
  }

  void draw_axes() {
    colour(kInk);
    stroke(kLeft, y(1), kLeft, y(0), 1);
    stroke(kLeft, y(0), kWidth - kRight, y(0), 1);
    for (int tenths = 0; tenths <= 10; tenths += 2) {
      const double at = y(tenths / 10.0);
      stroke(kLeft - 5, at, kLeft, at, 1);
      text(kLeft - 9, at + 4, std::to_string(10 * tenths) + " %", 12, Align::right);
    }
    for (const std::uint64_t count : ticks(chart_.end, kMostTicks)) {
      stroke(x(count), y(0), x(count), y(0) + 5, 1);
      text(x(count), y(0) + 20, grouped(count), 12, Align::centre);
    }
    text(kLeft + kPlotWidth / 2, kHeight - 16, chart_.count_name, 13, Align::centre);
    cairo_save(cr());
    cairo_translate(cr(), 20, kTop + kPlotHeight / 2);
    cairo_rotate(cr(), -1.57079632679);
    text(0, 0, chart_.share_name, 13, Align::centre);
    cairo_restore(cr());
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
    colour(kOrange);
    for (const std::uint64_t mark : chart_.marks) triangle(x(mark), y(1) - 1);
    cairo_set_font_size(cr(), 13);
    const double begin = kWidth - kRight - width_of(chart_.mark_name);
    triangle(begin - 10, kHeight - 16);
    text(begin, kHeight - 16, chart_.mark_name, 13);
  }

  void draw_titles() {
    colour(kInk);
    text(kLeft, 26, chart_.title, 17);
    text(kLeft, 46, chart_.subtitle, 12);
  }

  const ShareChart& chart_;
  Cairo cairo_;
};

std::string draw_svg(const ShareChart& chart) {
  std::string bytes;
  const Surface surface(cairo_svg_surface_create_for_stream(append, &bytes, kWidth, kHeight));
  cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
  Drawing(surface.get(), chart).draw();
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()));
  return bytes;
}

std::string draw_png(const ShareChart& chart) {
  std::string bytes;
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                                   static_cast<int>(kPngScale * kWidth),
                                                   static_cast<int>(kPngScale * kHeight)));
  cairo_surface_set_device_scale(surface.get(), kPngScale, kPngScale);
  Drawing(surface.get(), chart).draw();
  check(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  return bytes;
}

}  // namespace

PictureFormat picture_format(const std::string& path) {
  if (path.ends_with(".svg")) return PictureFormat::svg;
  if (path.ends_with(".png")) return PictureFormat::png;
  throw InputError("expected the name of a picture that ends in .svg or .png, found '" + path +
                   "'");
}

std::string draw(const ShareChart& chart, PictureFormat format) {
  return format == PictureFormat::svg ? draw_svg(chart) : draw_png(chart);
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
