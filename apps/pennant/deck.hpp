#pragma once
// The input deck: what is computed. A `.pnt` file has a key and its values in each line; lines that begin with # are
// comments. Some decks are built in.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pennant {

/// A number of points, sides or zones, or the number of one of them.
using Index = std::int32_t;

/// A mistake in a deck: one sentence with file and line.
class DeckError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class MeshKind : std::uint8_t { rect, pie, hex, random };

/// The mesh that a generator makes.
struct MeshPlan {
  MeshKind kind = MeshKind::rect;
  Index zones_x = 0, zones_y = 0;
  double length_x = 1, length_y = 1;  ///< of a pie: the angle in degrees, and the radius
  std::uint64_t seed = 1;             ///< of a random one
};
inline constexpr Index most_zones = Index{1} << 27;  ///< of a plan: their sides can be counted

/// The gas and its artificial viscosity.
struct Gas {
  double gamma = 5.0 / 3.0;
  double least_sound_speed = 0;  ///< ssmin
  double stiffness = 0.5;        ///< alfa, of the subzones of TTS
  double qgamma = 5.0 / 3.0;
  double q1 = 0, q2 = 2;  ///< linear and quadratic viscosity
  double cfl = 0.6;
};

/// How long the run is, and its steps.
struct TimeControl {
  int cycles = std::numeric_limits<int>::max();                 ///< cstop
  double end = 1e99;                                            ///< tstop
  double first_step = 1e99, longest_step = 1e99, growth = 1.2;  ///< dtinit, dtmax, dtfac
  double swelling = 0.1;  ///< cflv: by which part of itself a zone's volume may change in a step
};

struct Box {
  double x_low, x_high, y_low, y_high;
};

struct Deck {
  std::string name;
  MeshPlan mesh;
  TimeControl time;
  Gas gas;
  double density = 1, energy = 0;  ///< at the start, of zones outside of the subregion
  std::optional<Box> subregion;
  double density_inside = 1, energy_inside = 0;
  double radial_velocity = 0;
  std::vector<double> fixed_x, fixed_y;  ///< points on these lines do not move across them
  /// By which part of itself the total energy may change. The scheme keeps it in a plane; near the axis, where a blast
  /// begins in one zone, the kinetic energy of corners is a coarse measure.
  double energy_error = 0.2;
  std::map<std::string, int, std::less<>> lines;  ///< of a file: where each key stands

  /// What a sentence about this key begins with: "FILE:LINE".
  [[nodiscard]] std::string place(std::string_view key) const;
};

/// Throws DeckError.
Deck read_deck(const std::string& file);

/// The deck of this name, if there is one: sedovsmall, sedov, noh.
std::optional<Deck> built_in_deck(std::string_view name);
/// A blast in one corner of a square of so many zones, as in the deck sedov.
Deck blast(Index zones_x, Index zones_y);
/// Gas that flows to one corner of a square, as in the deck noh, on a mesh of any kind but a pie.
Deck implosion(MeshKind kind, Index zones_x, Index zones_y);

}  // namespace pennant
