#pragma once
// Zones are worked on strip by strip: some whole zones whose sides are few enough that all that is computed of them
// stays in the first cache. Loops over the sides of a strip run over arrays of doubles, without indirection, so that
// they become vectors; what a side needs of its neighbours in the zone or of the zone is put beside it first.

#include <algorithm>
#include <array>

#include "kernels.hpp"

namespace pennant {

inline constexpr int strip_sides = 64;
static_assert(strip_sides >= most_sides);
inline constexpr int strip_zones = strip_sides / 3;

/// A value of each side, or of each zone, of a strip.
using OfSides = std::array<double, strip_sides>;
using OfZones = std::array<double, strip_zones>;

class Strip {
 public:
  explicit Strip(const ZoneRange& range) : range_(range) {}

  /// Goes on to the next zones; false when there are none.
  bool next() {
    zone_ += zones_;
    side_ += sides_;
    zones_ = sides_ = 0;
    quadrangles_ = true;
    while (zone_ + zones_ < range_.count && zones_ < strip_zones) {
      const int more = range_.sides[zone_ + zones_];
      if (sides_ + more > strip_sides) break;
      quadrangles_ = quadrangles_ && more == 4;
      first_[zones_++] = sides_;
      sides_ += more;
    }
    first_[zones_] = sides_;
    if (!quadrangles_)
      for (int z = 0; z < zones_; ++z)
        for (int i = first_[z]; i < first_[z + 1]; ++i) zone_of_[i] = z;
    return zones_ > 0;
  }

  [[nodiscard]] int zones() const { return zones_; }
  [[nodiscard]] int sides() const { return sides_; }
  /// The strip's first zone and side, counted from those of the range.
  [[nodiscard]] std::ptrdiff_t zone() const { return zone_; }
  [[nodiscard]] std::ptrdiff_t side() const { return side_; }
  /// The number of a zone of the strip.
  [[nodiscard]] Index number(int zone) const {
    return range_.first + static_cast<Index>(zone_) + zone;
  }
  /// The point of a side of the strip.
  [[nodiscard]] Index point(int side) const { return range_.point[side_ + side]; }

  /// f(zone, its first side, the side behind its last one). Where all zones have four sides the compiler knows it.
  template <class F>
  void each_zone(const F& f) const {
    if (quadrangles_)
      for (int z = 0; z < zones_; ++z) f(z, 4 * z, 4 * z + 4);
    else
      for (int z = 0; z < zones_; ++z) f(z, first_[z], first_[z + 1]);
  }

  // Each of the following has two ways: zone by zone where all have four sides, and side by side where they differ,
  // since short loops of different lengths are slow. Both have the same bits.

  /// Gives each side its zone's value.
  void spread(const OfZones& from, OfSides& to) const {
    if (quadrangles_)
      for (int z = 0; z < zones_; ++z)
        for (int i = 4 * z; i < 4 * z + 4; ++i) to[i] = from[z];
    else
      for (int i = 0; i < sides_; ++i) to[i] = from[zone_of_[i]];
  }
  /// Gives each side the value of the next one of its zone.
  void from_next(const OfSides& from, OfSides& to) const {
    if (quadrangles_) {
      for (int z = 0; z < zones_; ++z) {
        for (int i = 4 * z; i < 4 * z + 3; ++i) to[i] = from[i + 1];
        to[4 * z + 3] = from[4 * z];
      }
    } else {
      for (int i = 0; i < sides_ - 1; ++i) to[i] = from[i + 1];
      for (int z = 0; z < zones_; ++z) to[first_[z + 1] - 1] = from[first_[z]];
    }
  }
  /// Gives each side the value of the one before it.
  void from_previous(const OfSides& from, OfSides& to) const {
    if (quadrangles_) {
      for (int z = 0; z < zones_; ++z) {
        to[4 * z] = from[4 * z + 3];
        for (int i = 4 * z + 1; i < 4 * z + 4; ++i) to[i] = from[i - 1];
      }
    } else {
      for (int i = 1; i < sides_; ++i) to[i] = from[i - 1];
      for (int z = 0; z < zones_; ++z) to[first_[z]] = from[first_[z + 1] - 1];
    }
  }
  /// The sum over the sides of each zone, from the first to the last.
  void sum(const OfSides& from, OfZones& to) const {
    if (quadrangles_) {
      for (int z = 0; z < zones_; ++z) to[z] = sum_of_four(from, z);
    } else {
      for (int z = 0; z < zones_; ++z) to[z] = 0;
      for (int i = 0; i < sides_; ++i) to[zone_of_[i]] += from[i];
    }
  }
  /// The centre: the mean over the points of each zone.
  void mean(const OfSides& from, OfSides& to) const {
    if (quadrangles_) {
      for (int z = 0; z < zones_; ++z) {
        const double centre = sum_of_four(from, z) / 4;
        for (int i = 4 * z; i < 4 * z + 4; ++i) to[i] = centre;
      }
    } else {
      OfZones centre;
      sum(from, centre);
      for (int z = 0; z < zones_; ++z) centre[z] /= first_[z + 1] - first_[z];
      spread(centre, to);
    }
  }

 private:
  static double sum_of_four(const OfSides& from, int zone) {
    double total = 0;
    for (int i = 4 * zone; i < 4 * zone + 4; ++i) total += from[i];
    return total;
  }

  const ZoneRange range_;
  std::ptrdiff_t zone_ = 0, side_ = 0;
  int zones_ = 0, sides_ = 0;
  bool quadrangles_ = true;
  std::array<int, strip_zones + 1> first_;  // side of each zone, and behind the last
  std::array<int, strip_sides> zone_of_;    // each side
};

/// Triangles from each side to the centre of its zone: areas, and volumes when they turn round the axis (over 2 pi).
struct Triangles {
  OfSides area, volume;

  void find(const Strip& strip, const OfSides& x, const OfSides& y, const OfSides& next_x,
            const OfSides& next_y, const OfSides& centre_x, const OfSides& centre_y) {
    constexpr double third = 1.0 / 3.0;
    for (int i = 0; i < strip.sides(); ++i) {
      const double a = 0.5 * ((next_x[i] - x[i]) * (centre_y[i] - y[i]) -
                              (next_y[i] - y[i]) * (centre_x[i] - x[i]));
      area[i] = a;
      volume[i] = third * a * (x[i] + next_x[i] + centre_x[i]);
    }
  }
  /// The number of the first zone with one that is inside out.
  [[nodiscard]] Index inverted(const Strip& strip) const {
    bool all_right = true;
    for (int i = 0; i < strip.sides(); ++i) all_right = all_right & (volume[i] > 0);
    Index first = Limits::none;
    if (all_right) return first;
    strip.each_zone([&](int z, int begin, int end) {
      for (int i = begin; i < end; ++i)
        if (!(volume[i] > 0)) first = std::min(first, strip.number(z));
    });
    return first;
  }
};

}  // namespace pennant
