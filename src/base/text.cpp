#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <numeric>
#include <span>
#include <vector>

namespace refrain {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 10> size_units{{{"", 1.0},
                                           {"b", 1.0},
                                           {"kb", 1e3},
                                           {"mb", 1e6},
                                           {"gb", 1e9},
                                           {"tb", 1e12},
                                           {"kib", 0x1p10},
                                           {"mib", 0x1p20},
                                           {"gib", 0x1p30},
                                           {"tib", 0x1p40}}};
constexpr std::array<Unit, 4> duration_units{
    {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}}};

bool is_digit(char c) { return '0' <= c && c <= '9'; }
char lower(char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view text, std::string_view lower_word) {
  return std::ranges::equal(text, lower_word, {}, lower);
}

// A number and one of the units. from_chars alone would also take signs, exponents and "inf", so the
// characters that belong to the number are chosen first.
std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units) {
  std::size_t digits = 0;
  while (digits < text.size() && (is_digit(text[digits]) || text[digits] == '.')) ++digits;
  if (digits == 0 || !is_digit(text[0])) return std::nullopt;
  double value = 0;
  const char* end = text.data() + digits;
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || stop != end || !is_digit(end[-1])) return std::nullopt;
  std::string_view unit = text.substr(digits);
  if (unit.size() > 1 && unit.front() == ' ') unit.remove_prefix(1);
  for (const Unit& known : units)
    if (same_word(unit, known.name)) return value * known.factor;
  return std::nullopt;
}

// At most four significant digits, without the zeros at the end.
std::string four_digits(double value) { return fmt::format("{:.4g}", value); }

// In the largest of the units, each `step` times the one before, in which it is not below 1.
std::string in_units(double value, double step, std::initializer_list<const char*> units) {
  const char* const* unit = units.begin();
  for (; value >= step && unit + 1 != units.end(); ++unit) value /= step;
  return four_digits(value) + *unit;
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  // Whole numbers of bytes are read as such: a double holds only 53 bits.
  std::uint64_t bytes = 0;
  const char* end = text.data() + text.size();
  if (auto [stop, error] = std::from_chars(text.data(), end, bytes);
      error == std::errc() && !text.empty() && stop + (same_word({stop, end}, "b") ? 1 : 0) == end)
    return bytes < (1ULL << 63) ? std::optional(bytes) : std::nullopt;
  const auto value = parse_quantity(text, size_units);
  if (!value || *value >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(*value));
}

std::optional<double> parse_bandwidth(std::string_view text) {
  if (text.size() < 2 || !same_word(text.substr(text.size() - 2), "/s")) return std::nullopt;
  return parse_quantity(text.substr(0, text.size() - 2), size_units);
}

std::optional<double> parse_duration(std::string_view text) {
  return parse_quantity(text, duration_units);
}

std::string exact_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> names{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < names.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, names[unit]);
}

std::string short_size(std::uint64_t bytes) {
  return in_units(static_cast<double>(bytes), 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

std::string short_bandwidth(double bytes_per_second) {
  return in_units(bytes_per_second, 1000, {"B/s", "KB/s", "MB/s", "GB/s", "TB/s"});
}

std::string short_duration(double seconds) {
  if (seconds >= 1) return four_digits(seconds) + "s";
  if (seconds >= 1e-3) return four_digits(seconds * 1e3) + "ms";
  if (seconds >= 1e-6) return four_digits(seconds * 1e6) + "us";
  return four_digits(seconds * 1e9) + "ns";
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, '\'');
  return digits;
}

namespace {

// Levenshtein's distance, one row of the table at a time.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t fewest = word.size() + 1;
  for (std::string_view candidate : candidates) {
    const std::size_t distance = edits(word, candidate);
    if (distance < fewest && 2 * distance <= candidate.size()) {
      fewest = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest_name(word, candidates);
  if (!near.empty()) return "; did you mean '" + std::string(near) + "'?";
  std::string text = "; known are ";
  for (std::string_view candidate : candidates) {
    if (candidate != candidates.front()) text += ", ";
    text += candidate;
  }
  return text;
}

}  // namespace refrain
