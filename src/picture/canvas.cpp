#include "picture/canvas.hpp"

#include <cairo-svg.h>
#include <cairo.h>

#include <memory>
#include <numbers>

#include "refrain/error.hpp"

namespace refrain::picture {
namespace {

// A PNG has four pixels for each, so that it is sharp on screens with small ones.
constexpr double kPngScale = 2;

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

void paint_on(cairo_surface_t* surface, const std::function<void(Canvas&)>& paint) {
  const Cairo cairo(cairo_create(surface));
  Canvas canvas(cairo.get());
  canvas.colour(kWhite);
  cairo_paint(cairo.get());
  cairo_select_font_face(cairo.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         CAIRO_FONT_WEIGHT_NORMAL);
  paint(canvas);
  check(cairo_status(cairo.get()));
}

/// As the text of an element of XML, which has no control characters.
std::string escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') escaped += "&lt;";
    else if (c == '>') escaped += "&gt;";
    else if (c == '&') escaped += "&amp;";
    else if (c == '"') escaped += "&quot;";
    else if (static_cast<unsigned char>(c) < ' ' && c != '\n') escaped += ' ';
    else escaped += c;
  }
  return escaped;
}

/// Cairo numbers its surfaces, so that equal pictures of one process would differ.
void name_surface(std::string& svg) {
  const std::string begin = "<g id=\"surface";
  const std::size_t at = svg.find(begin);
  if (at == std::string::npos) return;
  const std::size_t number = at + begin.size();
  svg.erase(number, svg.find('"', number) - number);
}

void describe(std::string& svg, const std::string& description) {
  const std::size_t root = svg.find("<svg ");
  if (description.empty() || root == std::string::npos) return;
  svg.insert(svg.find('>', root) + 1, "\n<desc>" + escaped(description) + "</desc>");
}

}  // namespace

void Canvas::colour(Colour colour) {
  cairo_set_source_rgb(cairo_, colour.red, colour.green, colour.blue);
}

void Canvas::stroke(double x0, double y0, double x1, double y1, double width) {
  cairo_move_to(cairo_, x0, y0);
  cairo_line_to(cairo_, x1, y1);
  cairo_set_line_width(cairo_, width);
  cairo_stroke(cairo_);
}

void Canvas::box(double x, double y, double width, double height) {
  cairo_rectangle(cairo_, x, y, width, height);
  cairo_fill(cairo_);
}

double Canvas::width_of(const std::string& words, double size) {
  cairo_set_font_size(cairo_, size);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo_, words.c_str(), &extents);
  return extents.x_advance;
}

void Canvas::text(double x, double y, const std::string& words, double size, Align align) {
  cairo_set_font_size(cairo_, size);
  if (align != Align::left) x -= width_of(words, size) / (align == Align::centre ? 2 : 1);
  cairo_move_to(cairo_, x, y);
  cairo_show_text(cairo_, words.c_str());
  cairo_new_path(cairo_);  // the next line does not begin behind the words
}

void Canvas::upright_text(double x, double y, const std::string& words, double size) {
  cairo_save(cairo_);
  cairo_translate(cairo_, x, y);
  cairo_rotate(cairo_, -std::numbers::pi / 2);
  text(0, 0, words, size, Align::centre);
  cairo_restore(cairo_);
}

std::string Canvas::fitted(const std::string& words, double size, double width) {
  std::string kept = words, shown = words;
  while (!kept.empty() && width_of(shown, size) > width) {
    // A character of UTF-8 is a byte and those behind it that begin with 10.
    while (kept.size() > 1 && (static_cast<unsigned char>(kept.back()) & 0xc0U) == 0x80U)
      kept.pop_back();
    kept.pop_back();
    shown = kept + "…";
  }
  return shown;
}

std::string draw(double width, double height, Format format, const std::string& description,
                 const std::function<void(Canvas&)>& paint) {
  std::string bytes;
  if (format == Format::svg) {
    const Surface surface(cairo_svg_surface_create_for_stream(append, &bytes, width, height));
    cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
    paint_on(surface.get(), paint);
    cairo_surface_finish(surface.get());
    check(cairo_surface_status(surface.get()));
    name_surface(bytes);
    describe(bytes, description);
    return bytes;
  }
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                                   static_cast<int>(kPngScale * width),
                                                   static_cast<int>(kPngScale * height)));
  cairo_surface_set_device_scale(surface.get(), kPngScale, kPngScale);
  paint_on(surface.get(), paint);
  check(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  return bytes;
}

}  // namespace refrain::picture
