#pragma once
// What a program has computed as a PNG: a field in colours, or curves.
//
//   apps::write_picture("height.png", {.title = "height", .values = h.to_vector<double>(), .rows = n, .columns = n});
//   apps::write_picture("profile.png", {.title = "u(y)", .curves = {{"computed", y, u}, {"exact", y, exact}}});
//
// Both throw std::invalid_argument for a picture that contradicts itself, and std::runtime_error with the name of the
// file when that cannot be written.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace apps {

/// A field of rows and columns, from dark blue (the smallest value) to yellow; what is not finite is grey. Small
/// fields are enlarged to some 480 pixels, each value a square; of very large ones squares are averaged.
struct FieldPicture {
  std::string title = {};
  std::vector<double> values;  ///< in C order
  std::int64_t rows = 0, columns = 0;
  std::optional<double> low = {},
                        high =
                            {};  ///< what the ends of the colours stand for; else smallest, largest
  bool row_0_below = false;      ///< as y in a diagram; else above, as in a matrix
  /// Of a vector field on the same points, drawn as arrows: its parts along columns and rows. Or empty.
  std::vector<double> along_columns = {}, along_rows = {};
};
/// Of several processes that run the program the first one writes it.
void write_picture(const std::string& path, const FieldPicture& picture);

struct Curve {
  std::string name;
  std::vector<double> x, y;  ///< a point that is not finite interrupts the curve
};

/// Curves in a diagram, at most eight, with their names below the title.
struct CurvePicture {
  std::string title = {};
  std::vector<Curve> curves;
  std::string x_name = {}, y_name = {};
};
void write_picture(const std::string& path, const CurvePicture& picture);

}  // namespace apps
