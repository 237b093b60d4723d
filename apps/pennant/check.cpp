#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <sstream>

#include "../common/checks.hpp"

namespace pennant {

namespace {

constexpr double difference_allowed = 1e-8;  // relative
constexpr double rounding = 1e-15;           // of the largest value

double difference(double found, double expected) {
  return std::fabs(found - expected) / std::fabs(expected);
}

struct KnownZone {
  Index zone;
  double density, energy, pressure;
};

// After ten cycles: sums over all zones, and three zones.
struct Known {
  const char* deck;
  double density, energy, pressure;
  KnownZone zones[3];
};
constexpr Known known_results[] = {
    {"sedovsmall",
     80.95540225450317,
     26.457771998401782,
     9.230793619390102,
     {{0, 0.4276404036723993, 23.581823405673397, 7.218290854888767},
      {1, 1.121388758810004, 1.3159758671975048, 0.9240160973052558},
      {10, 1.2209832784817656, 0.6743774912178387, 0.4946324558983786}}},
    {"sedov",
     2025.0670570655398,
     3089.377848913461,
     1013.6556365500987,
     {{0, 0.35964506002018437, 2632.9188918768655, 676.8655651932792},
      {2, 1.0486603392332434, 6.061979447273753, 3.2201192977075688},
      {46, 1.285368173533979, 113.91691063888491, 90.63297285630387}}},
    {"noh",
     3067.3222019163904,
     2.4443935267690033,
     2.6138719383891313,
     {{0, 1.6905107483582416, 0.07737604185083002, 0.08384871133513809},
      {15, 1.6905107483582418, 0.07737604185082941, 0.08384871133513752},
      {2999, 1.003277898316815, 1.193534728221827e-06, 1.4629462837344418e-06}}},
};

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double largest_difference(const Known& known, const State& state) {
  double most = 0;
  const auto compare = [&](double found, double expected) {
    most = apps::larger(most, difference(found, expected));
  };
  compare(sum(state.density), known.density);
  compare(sum(state.energy), known.energy);
  compare(sum(state.pressure), known.pressure);
  for (const KnownZone& z : known.zones) {
    const auto i = static_cast<std::size_t>(z.zone);
    compare(state.density[i], z.density);
    compare(state.energy[i], z.energy);
    compare(state.pressure[i], z.pressure);
  }
  return most;
}

// A section of a file of results: its name after "#", then a number and a value per zone. What is wrong with it throws.
class GoldFile {
 public:
  explicit GoldFile(const std::string& file) : name_(file), in_(file) {}
  [[nodiscard]] bool is_there() const { return in_.is_open(); }

  double largest_difference(const std::string& section, const std::vector<double>& values) {
    std::istringstream heading(line());
    std::string mark, name;
    if (!(heading >> mark >> name) || mark != "#" || name != section)
      fail("'# " + section + "' was expected");
    std::vector<double> expected;
    double largest = 0, most = 0;
    for (std::size_t z = 0; z < values.size(); ++z) {
      expected.push_back(value(z + 1));
      largest = std::max(largest, std::fabs(expected.back()));
    }
    for (std::size_t z = 0; z < values.size(); ++z)
      if (!(std::fabs(values[z] - expected[z]) <= rounding * largest))
        most = apps::larger(most, difference(values[z], expected[z]));
    return most;
  }

 private:
  double value(std::size_t zone) {
    const std::string text = line();
    std::size_t number = 0;
    double value = 0;
    if (std::sscanf(text.c_str(), "%zu %lf", &number, &value) != 2 || number != zone)
      fail("the number " + std::to_string(zone) + " and a value were expected");
    return value;
  }
  std::string line() {
    std::string text;
    if (!std::getline(in_, text)) fail("the file ends here");
    ++number_;
    return text;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(name_ + ":" + std::to_string(number_) + ": " + what);
  }

  std::string name_;
  std::ifstream in_;
  int number_ = 0;
};

}  // namespace

bool check_energy(const Deck& deck, const Energy& before, const Energy& after) {
  const double change = difference(after.total(), before.total());
  const bool right = change <= deck.energy_error;
  std::printf("check %s: the total energy has changed by %.2e of itself (%.2g allowed)\n",
              apps::verdict(right), change, deck.energy_error);
  return right;
}

bool check_known(const Deck& deck, const State& state) {
  for (const Known& known : known_results) {
    if (deck.name != known.deck || deck.time.cycles != 10) continue;
    const double most = largest_difference(known, state);
    const bool right = most <= difference_allowed;
    std::printf("check %s: sums and three zones differ by %.1e from what is known (%.0e allowed)\n",
                apps::verdict(right), most, difference_allowed);
    return right;
  }
  return true;
}

bool check_gold(const std::string& file, const State& state) {
  GoldFile gold(file);
  if (!gold.is_there()) {
    std::printf("no check against %s: the file is not there\n", file.c_str());
    return true;
  }
  const double density = gold.largest_difference("zr", state.density);
  const double energy = gold.largest_difference("ze", state.energy);
  const double pressure = gold.largest_difference("zp", state.pressure);
  const double most = apps::larger(apps::larger(density, energy), pressure);
  const bool right = most <= difference_allowed;
  std::printf(
      "check %s: densities, energies and pressures differ by %.1e, %.1e and %.1e at most "
      "from %s (%.0e allowed)\n",
      apps::verdict(right), density, energy, pressure, file.c_str(), difference_allowed);
  return right;
}

}  // namespace pennant
