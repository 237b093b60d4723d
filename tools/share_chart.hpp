#pragma once
// A chart of a share over a count, as a picture: one line with what happened along the way. It knows nothing of
// where the numbers come from.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "picture/canvas.hpp"

namespace refrain::tools {

using PictureFormat = picture::Format;
/// What the suffix of a file's name asks for. Throws InputError where it is neither .svg nor .png.
PictureFormat picture_format(const std::string& path);

struct ShareChart {
  std::string title, subtitle;
  std::string count_name, share_name;  ///< at the axes
  std::uint64_t end = 1;               ///< the counts go from 0 to this one

  struct Point {
    std::uint64_t count = 0;
    double share = 0;  ///< from 0 to 1
  };
  std::vector<Point> line;  ///< by count

  /// Small triangles above the chart.
  std::string mark_name;
  std::vector<std::uint64_t> marks;

  /// An upright line across it.
  struct Milestone {
    std::uint64_t at = 0;
    std::string name;
  };
  std::optional<Milestone> milestone;
};

/// The bytes of the picture.
std::string draw(const ShareChart& chart, PictureFormat format);

/// Where an axis from 0 to `end` has its ticks: at most `most` + 1 multiples of 1, 2 or 5 times a power of ten.
std::vector<std::uint64_t> ticks(std::uint64_t end, std::uint64_t most);

}  // namespace refrain::tools
