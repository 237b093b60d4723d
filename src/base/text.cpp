#include "base/text.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/core/demangle.hpp>
#include <charconv>
#include <locale>
#include <numeric>
#include <vector>

#include "refrain/error.hpp"

namespace refrain {

namespace {

// In each list a unit is a fixed number of the ones before it.
constexpr std::array kSizes{"B", "KiB", "MiB", "GiB", "TiB"};
constexpr std::array kDecimalSizes{"B", "KB", "MB", "GB", "TB"};
constexpr std::array kDurations{"ns", "us", "ms", "s"};
constexpr std::array kFlops{"Flop/s", "KFlop/s", "MFlop/s", "GFlop/s", "TFlop/s", "PFlop/s"};
using Units = std::span<const char* const>;

bool same_word(std::string_view text, std::string_view word) {
  return boost::algorithm::iequals(text, word, std::locale::classic());
}

// A number and one of the units, as a number of the first unit. from_chars alone would also take signs, exponents and
// "inf", so the characters that belong to the number are chosen first.
std::optional<double> parse_quantity(std::string_view text, double step, Units units) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  if (digits == 0 || text[0] == '.' || text[digits - 1] == '.') return std::nullopt;
  double value = 0, factor = 1;
  const char* end = text.data() + digits;
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || stop != end) return std::nullopt;
  std::string_view unit = text.substr(digits);
  if (unit.size() > 1 && unit.front() == ' ') unit.remove_prefix(1);
  for (const char* name : units) {
    if (same_word(unit, name)) return value * factor;
    factor *= step;
  }
  return std::nullopt;
}

std::optional<double> parse_any_size(std::string_view text) {
  const auto bytes = parse_quantity(text, 1, std::array{""});
  const auto binary = parse_quantity(text, 1024, kSizes);
  return bytes ? bytes : binary ? binary : parse_quantity(text, 1000, kDecimalSizes);
}

// At most four significant digits, without the zeros at the end, in the largest of the units in which the value is not
// below 1.
std::string in_units(double value, double step, Units units) {
  auto unit = units.begin();
  for (; value >= step && unit + 1 != units.end(); ++unit) value /= step;
  return fmt::format("{:.4g}{}", value, *unit);
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  // Whole numbers of bytes are read as such: a double holds only 53 bits.
  std::uint64_t bytes = 0;
  const char* end = text.data() + text.size();
  if (auto [stop, error] = std::from_chars(text.data(), end, bytes);
      error == std::errc() && !text.empty() && stop + (same_word({stop, end}, "b") ? 1 : 0) == end)
    return bytes < (1ULL << 63) ? std::optional(bytes) : std::nullopt;
  const auto value = parse_any_size(text);
  if (!value || *value >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(*value));
}

std::optional<double> parse_bandwidth(std::string_view text) {
  if (text.size() < 2 || !same_word(text.substr(text.size() - 2), "/s")) return std::nullopt;
  return parse_any_size(text.substr(0, text.size() - 2));
}

std::optional<double> parse_duration(std::string_view text) {
  const auto nanoseconds = parse_quantity(text, 1000, kDurations);
  return nanoseconds ? std::optional(*nanoseconds / 1e9) : std::nullopt;
}

std::optional<double> parse_flops(std::string_view text) {
  return parse_quantity(text, 1000, kFlops);
}

std::string exact_size(std::uint64_t bytes) {
  std::size_t unit = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < kSizes.size(); ++unit) bytes /= 1024;
  return fmt::format("{}{}", bytes, kSizes[unit]);
}

std::string short_size(std::uint64_t bytes) {
  return in_units(static_cast<double>(bytes), 1024, kSizes);
}
std::string short_bandwidth(double bytes_per_second) {
  return in_units(bytes_per_second, 1000, kDecimalSizes) + "/s";
}
std::string short_duration(double seconds) { return in_units(seconds * 1e9, 1000, kDurations); }

std::string short_flops(double operations_per_second) {
  return in_units(operations_per_second, 1000, kFlops);
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

std::string joined(std::span<const std::string_view> texts) {
  std::string text;
  for (const std::string_view one : texts) (text += text.empty() ? "" : ", ") += one;
  return text;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  std::size_t fewest = word.size() + 1;
  for (std::string_view candidate : candidates) {
    const std::size_t distance = edits(word, candidate);
    if (distance >= fewest || 2 * distance > candidate.size()) continue;
    fewest = distance;
    nearest = candidate;
  }
  if (nearest.empty()) return "; known are " + joined(candidates);
  return fmt::format("; did you mean '{}'?", nearest);
}

std::string to_string(const Where& where) {
  const std::string_view file = where.file_name();
  return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(where.line());
}

std::string type_of_current_exception() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  return type == nullptr ? "that is not known" : boost::core::demangle(type->name());
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what() != nullptr ? e.what() : "an exception without a text";
  } catch (...) { return "an exception of type " + type_of_current_exception(); }
}

std::string type_and_text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception&) {
    return type_of_current_exception() + ": " + text_of(error);
  } catch (...) { return type_of_current_exception(); }
}

void fail_around(const std::string& who) {
  std::throw_with_nested(UsageError(who + ": " + text_of(std::current_exception())));
}

}  // namespace refrain
