#include "generators.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "refrain/random.hpp"

namespace pennant {

namespace {

// A vertex of the lattice: one point, or the two ends of an edge.
struct Vertex {
  Index a, b;           // equal: one point
  bool rising = false;  // a lies below b, on its left; otherwise above b, on its left
};

// How a vertex of a random mesh differs from that of a lattice.
struct Distortion {
  Vec2 shift;
  bool split, rising;
};

class Generator {
 public:
  explicit Generator(const MeshPlan& plan) : plan_(plan) {}

  Polygons make() {
    for (Index j = 0; j <= plan_.zones_y; ++j)
      for (Index i = 0; i <= plan_.zones_x; ++i) vertices_.push_back(make_vertex(i, j));
    for (Index j = 0; j < plan_.zones_y; ++j)
      for (Index i = 0; i < plan_.zones_x; ++i) add_zone(i, j);
    return std::move(polygons_);
  }

 private:
  [[nodiscard]] bool on_edge(Index i, Index j) const {
    return i == 0 || i == plan_.zones_x || j == 0 || j == plan_.zones_y;
  }
  [[nodiscard]] std::int64_t number(Index i, Index j) const {
    return std::int64_t{j} * (plan_.zones_x + 1) + i;
  }
  [[nodiscard]] const Vertex& vertex(Index i, Index j) const {
    return vertices_[static_cast<std::size_t>(number(i, j))];
  }

  Vertex make_vertex(Index i, Index j) {
    switch (plan_.kind) {
      case MeshKind::pie: return make_pie_vertex(i, j);
      case MeshKind::hex: return make_hex_vertex(i, j);
      case MeshKind::random: return make_random_vertex(i, j);
      default: return one_point({width() * i, height() * j});
    }
  }

  [[nodiscard]] double width() const { return plan_.length_x / plan_.zones_x; }
  [[nodiscard]] double height() const { return plan_.length_y / plan_.zones_y; }

  Vertex make_pie_vertex(Index i, Index j) {
    if (j == 0) return i == 0 ? one_point({0, 0}) : Vertex{0, 0};
    const double angle = plan_.length_x * std::numbers::pi / 180.0 / plan_.zones_x;
    const double radius = height() * j;
    const double theta = angle * (plan_.zones_x - i);
    return one_point({radius * std::cos(theta), radius * std::sin(theta)});
  }

  // Whole hexagons lie inside; those at the edge are cut off there.
  Vertex make_hex_vertex(Index i, Index j) {
    const double dx = plan_.length_x / (plan_.zones_x - 1);
    const double dy = plan_.length_y / (plan_.zones_y - 1);
    const double x = std::clamp(dx * (i - 0.5), 0.0, plan_.length_x);
    const double y = std::clamp(dy * (j - 0.5), 0.0, plan_.length_y);
    if (on_edge(i, j)) return one_point({x, y});
    const Index a = add_point({x - dx / 6, y + dy / 6});
    return {a, add_point({x + dx / 6, y - dy / 6})};
  }

  Vertex make_random_vertex(Index i, Index j) {
    const Vec2 place{width() * i, height() * j};
    if (on_edge(i, j)) return one_point(place);
    const Distortion d = distortion(number(i, j));
    const Vec2 middle = place + Vec2{width() * d.shift.x, height() * d.shift.y};
    if (!d.split) return one_point(middle);
    const Vec2 half{width() / 7, d.rising ? height() / 7 : -height() / 7};
    const Index a = add_point(middle - half);
    return {a, add_point(middle + half), d.rising};
  }
  // In units of a zone's edges. Three in five vertices are split.
  [[nodiscard]] Distortion distortion(std::int64_t vertex) const {
    const refrain::RandomStream numbers(plan_.seed, 0);
    const double kind = numbers.uniform(3 * vertex);
    return {{numbers.uniform(3 * vertex + 1, -0.08, 0.08),
             numbers.uniform(3 * vertex + 2, -0.08, 0.08)},
            kind < 0.6,
            kind < 0.3};
  }

  Index add_point(const Vec2& place) {
    polygons_.points.push_back(place);
    return static_cast<Index>(polygons_.points.size()) - 1;
  }
  Vertex one_point(const Vec2& place) {
    const Index p = add_point(place);
    return {p, p};
  }

  // The points that a zone has of its four vertices, counter-clockwise. Of a split one it has both, or the nearer one.
  void add_zone(Index i, Index j) {
    corners_.clear();
    const Vertex& low_left = vertex(i, j);
    if (!low_left.rising) add_corner(low_left.a);
    add_corner(low_left.b);
    const Vertex& low_right = vertex(i + 1, j);
    add_corner(low_right.a);
    if (low_right.rising) add_corner(low_right.b);
    const Vertex& high_right = vertex(i + 1, j + 1);
    if (!high_right.rising) add_corner(high_right.b);
    add_corner(high_right.a);
    const Vertex& high_left = vertex(i, j + 1);
    add_corner(high_left.b);
    if (high_left.rising) add_corner(high_left.a);
    if (plan_.kind == MeshKind::random && corners_.size() == 4 && is_cut(i, j)) {
      add_polygon({corners_[0], corners_[1], corners_[2]});
      add_polygon({corners_[0], corners_[2], corners_[3]});
    } else {
      add_polygon(corners_);
    }
  }
  void add_corner(Index point) {
    if (corners_.empty() || corners_.back() != point) corners_.push_back(point);
  }
  [[nodiscard]] bool is_cut(Index i, Index j) const {
    return refrain::RandomStream(plan_.seed, 1).uniform(number(i, j)) < 0.25;
  }
  void add_polygon(const std::vector<Index>& points) {
    polygons_.zone_sides.push_back(static_cast<Index>(points.size()));
    polygons_.side_point.insert(polygons_.side_point.end(), points.begin(), points.end());
  }

  const MeshPlan plan_;
  std::vector<Vertex> vertices_;
  Polygons polygons_;
  std::vector<Index> corners_;  // of the zone at hand
};

}  // namespace

Polygons make_polygons(const MeshPlan& plan) { return Generator(plan).make(); }

}  // namespace pennant
