#pragma once
// What the project's pictures are drawn on: lines, boxes and words, in pixels from the top left corner. The background is
// white, whatever is behind the picture. Drawn with cairo, which writes both formats from one description.
//
// Equal drawings give equal bytes, on machines with the same fonts. Words are drawn as shapes, so a picture looks the same
// everywhere. An SVG has a description beside them, which can be searched and read aloud. One thread.

#include <cstdint>
#include <functional>
#include <string>

using cairo_t = struct _cairo;

namespace refrain::picture {

enum class Format : std::uint8_t { svg, png };

/// From 0 to 1.
struct Colour {
  double red, green, blue;
};
inline constexpr Colour kWhite{1, 1, 1}, kInk{0.13, 0.13, 0.13}, kPale{0.88, 0.88, 0.88};

enum class Align : std::uint8_t { left, centre, right };

class Canvas {
 public:
  explicit Canvas(cairo_t* cairo) : cairo_(cairo) {}
  /// For paths that nobody else draws.
  [[nodiscard]] cairo_t* cr() const { return cairo_; }

  /// Of all that follows.
  void colour(Colour colour);
  void stroke(double x0, double y0, double x1, double y1, double width);
  void box(double x, double y, double width, double height);
  /// With its base line at y. `words` is UTF-8.
  void text(double x, double y, const std::string& words, double size, Align align = Align::left);
  /// Read from below, around the point.
  void upright_text(double x, double y, const std::string& words, double size);
  [[nodiscard]] double width_of(const std::string& words, double size);
  /// The words, or as many of their first characters as fit the width with "…" behind them.
  [[nodiscard]] std::string fitted(const std::string& words, double size, double width);

 private:
  cairo_t* cairo_;
};

/// The bytes of a picture of this size. `description`: plain text about it, for an SVG; may be empty. Throws Error where
/// it cannot be drawn: a text is no UTF-8, there is no memory.
std::string draw(double width, double height, Format format, const std::string& description,
                 const std::function<void(Canvas&)>& paint);

}  // namespace refrain::picture
