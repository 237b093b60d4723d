#include "deck.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

namespace pennant {

namespace {

// A word of a file that may be no text, for a sentence about it.
std::string quoted(std::string_view word) {
  constexpr std::size_t most = 40;
  std::string shown = "'";
  for (const char c : word.substr(0, most)) shown += c >= ' ' && c <= '~' ? c : '?';
  if (word.size() > most) shown += "...";
  return shown += '\'';
}

std::string text(double number) {
  std::ostringstream out;
  out << number;
  return out.str();
}

// A key and its values, which are taken one by one.
class Line {
 public:
  Line(std::string place, const std::string& line) : place_(std::move(place)) {
    std::istringstream words(line);
    words >> key_;
    for (std::string word; words >> word;) values_.push_back(word);
  }

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] bool more() const { return next_ < values_.size(); }
  [[noreturn]] void fail(const std::string& what) const { throw DeckError(place_ + ": " + what); }

  const std::string& word() {
    if (!more())
      fail(quoted(key_) + (next_ == 0 ? " has no value" : " has too few values, the line is cut"));
    return values_[next_++];
  }
  double number() {
    const std::string& digits = word();
    double value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc{} || stop != end || !std::isfinite(value))
      fail(quoted(key_) + " has the value " + quoted(digits) + ", which is not a number");
    return value;
  }
  double at_least(double least) { return checked(number(), least, least); }
  double positive() { return checked(number(), std::numeric_limits<double>::min(), 0); }
  double above(double bound) { return checked(number(), std::nextafter(bound, 1e99), bound); }
  Index count(Index least, Index most) {
    const double value = number();
    if (value != std::floor(value))
      fail(quoted(key_) + " has the value " + text(value) + ", which is no whole number");
    if (value < least || value > most)
      fail(quoted(key_) + " has the value " + text(value) + ", it has to be from " +
           std::to_string(least) + " to " + std::to_string(most));
    return static_cast<Index>(value);
  }
  std::vector<double> numbers() {
    std::vector<double> all{number()};
    while (more()) all.push_back(number());
    return all;
  }
  void end() const {
    if (more()) fail(quoted(key_) + " has too many values: " + quoted(values_[next_]));
  }

 private:
  double checked(double value, double least, double told) const {
    if (value < least)
      fail(quoted(key_) + " has the value " + text(value) + ", it has to be " +
           (least == told ? "at least " : "above ") + text(told));
    return value;
  }

  std::string place_, key_;
  std::vector<std::string> values_;
  std::size_t next_ = 0;
};

void read_mesh_kind(Deck& deck, Line& line) {
  const std::string& kind = line.word();
  if (kind == "rect") deck.mesh.kind = MeshKind::rect;
  else if (kind == "pie") deck.mesh.kind = MeshKind::pie;
  else if (kind == "hex") deck.mesh.kind = MeshKind::hex;
  else line.fail("'meshtype' is " + quoted(kind) + ", it has to be rect, pie or hex");
}

// The lengths of 0 that are left out are set when the kind of mesh is known.
void read_mesh_parameters(Deck& deck, Line& line) {
  MeshPlan& mesh = deck.mesh;
  mesh.zones_x = line.count(1, most_zones);
  mesh.zones_y = line.more() ? line.count(1, most_zones) : mesh.zones_x;
  if (mesh.zones_x > most_zones / mesh.zones_y)
    line.fail("'meshparams' asks for more than " + std::to_string(most_zones) + " zones");
  mesh.length_x = line.more() ? line.positive() : 0;
  mesh.length_y = line.more() ? line.positive() : 1;
}

void read_subregion(Deck& deck, Line& line) {
  Box box{};
  box.x_low = line.number();
  box.x_high = line.number();
  box.y_low = line.number();
  box.y_high = line.number();
  if (box.x_low > box.x_high || box.y_low > box.y_high)
    line.fail("'subregion' ends before it begins: its values are x from, to, y from, to");
  deck.subregion = box;
}

void ignore(Deck&, Line& line) { line.count(0, std::numeric_limits<Index>::max()); }

using Read = void (*)(Deck& deck, Line& line);
const std::map<std::string, Read, std::less<>> keys{
    {"meshtype", read_mesh_kind},
    {"meshparams", read_mesh_parameters},
    {"subregion", read_subregion},
    {"cstop", [](Deck& d, Line& l) { d.time.cycles = l.count(1, 1'000'000'000); }},
    {"tstop", [](Deck& d, Line& l) { d.time.end = l.positive(); }},
    {"dtinit", [](Deck& d, Line& l) { d.time.first_step = l.positive(); }},
    {"dtmax", [](Deck& d, Line& l) { d.time.longest_step = l.positive(); }},
    {"dtfac", [](Deck& d, Line& l) { d.time.growth = l.at_least(1); }},
    {"cflv", [](Deck& d, Line& l) { d.time.swelling = l.positive(); }},
    {"cfl", [](Deck& d, Line& l) { d.gas.cfl = l.positive(); }},
    {"gamma", [](Deck& d, Line& l) { d.gas.gamma = l.above(1); }},
    {"ssmin", [](Deck& d, Line& l) { d.gas.least_sound_speed = l.at_least(0); }},
    {"alfa", [](Deck& d, Line& l) { d.gas.stiffness = l.at_least(0); }},
    {"qgamma", [](Deck& d, Line& l) { d.gas.qgamma = l.above(1); }},
    {"q1", [](Deck& d, Line& l) { d.gas.q1 = l.at_least(0); }},
    {"q2", [](Deck& d, Line& l) { d.gas.q2 = l.at_least(0); }},
    {"rinit", [](Deck& d, Line& l) { d.density = l.positive(); }},
    {"einit", [](Deck& d, Line& l) { d.energy = l.at_least(0); }},
    {"rinitsub", [](Deck& d, Line& l) { d.density_inside = l.positive(); }},
    {"einitsub", [](Deck& d, Line& l) { d.energy_inside = l.at_least(0); }},
    {"uinitradial", [](Deck& d, Line& l) { d.radial_velocity = l.number(); }},
    {"bcx", [](Deck& d, Line& l) { d.fixed_x = l.numbers(); }},
    {"bcy", [](Deck& d, Line& l) { d.fixed_y = l.numbers(); }},
    // Of output and chunks the command line decides.
    {"chunksize", ignore},
    {"dtreport", ignore},
    {"writexy", ignore},
    {"writegold", ignore},
};

void read_line(Deck& deck, int number, const std::string& text_of_line) {
  Line line(deck.name + ":" + std::to_string(number), text_of_line);
  if (line.key().empty() || line.key().front() == '#') return;
  const auto read = keys.find(line.key());
  if (read == keys.end()) line.fail("there is no key " + quoted(line.key()));
  if (const auto [earlier, first] = deck.lines.emplace(line.key(), number); !first)
    line.fail(quoted(line.key()) + " stands in line " + std::to_string(earlier->second) +
              " already");
  read->second(deck, line);
  line.end();
}

// What depends on more than one line.
void complete(Deck& deck, int last_line) {
  const std::string end = deck.name + ":" + std::to_string(last_line) + ": the deck ends without ";
  for (const char* key : {"meshtype", "meshparams"})
    if (!deck.lines.contains(key)) throw DeckError(end + quoted(key));
  if (!deck.lines.contains("cstop") && !deck.lines.contains("tstop"))
    throw DeckError(end + "'cstop' or 'tstop', so the run would never end");
  MeshPlan& mesh = deck.mesh;
  const bool pie = mesh.kind == MeshKind::pie;
  if (mesh.length_x == 0) mesh.length_x = pie ? 90 : 1;
  const std::string place = deck.place("meshparams") + ": ";
  if (pie && mesh.length_x >= 360)
    throw DeckError(place + "the angle of a pie has to be below 360 degrees, is " +
                    text(mesh.length_x));
  if (pie && mesh.length_x >= 180 * mesh.zones_x)
    throw DeckError(place + "a zone of this pie would have an angle of 180 degrees or more");
  if (mesh.kind == MeshKind::hex && (mesh.zones_x < 2 || mesh.zones_y < 2))
    throw DeckError(place + "a mesh of hexagons has at least 2 zones in each direction");
}

}  // namespace

std::string Deck::place(std::string_view key) const {
  const auto line = lines.find(key);
  return line == lines.end() ? name : name + ":" + std::to_string(line->second);
}

Deck read_deck(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw DeckError(file + ": cannot be read");
  Deck deck;
  deck.name = file;
  int number = 0;
  for (std::string line; std::getline(in, line);) read_line(deck, ++number, line);
  if (in.bad()) throw DeckError(file + ":" + std::to_string(number) + ": cannot be read further");
  complete(deck, number);
  return deck;
}

}  // namespace pennant
