#include "compare.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "call.hpp"

namespace refrain::test::numpy {

using namespace arrays;

namespace {

/// An element as two numbers, and its bytes.
template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

std::complex<double> number(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::float32: return load<float>(from);
    case DType::float64: return load<double>(from);
    case DType::complex128: return load<std::complex<double>>(from);
    default: return 0.0;
  }
}

std::string written(double value, int digits = 17) {
  char text[100];
  std::snprintf(text, sizeof text, "%.*g (%a)", digits, value, value);
  return text;
}

std::string written(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::boolean: {
      const int value = load<std::uint8_t>(from);
      return value > 1 ? "a bool of " + std::to_string(value) : value == 1 ? "True" : "False";
    }
    case DType::int32: return std::to_string(load<std::int32_t>(from));
    case DType::int64: return std::to_string(load<std::int64_t>(from));
    case DType::float32: return written(static_cast<double>(load<float>(from)), 9);
    case DType::float64: return written(load<double>(from));
    case DType::complex128: {
      const auto value = load<std::complex<double>>(from);
      return written(value.real()) + " and " + written(value.imag()) + "j";
    }
  }
  return "?";
}

bool same_bits(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::memcmp(&a, &b, sizeof a) == 0;
}

/// Is an element as near as it must be?
bool near(DType dtype, const std::byte* expected, const std::byte* seen, double tolerance) {
  if (kind_of(dtype) < Kind::floating) return std::memcmp(expected, seen, size_of(dtype)) == 0;
  const std::complex<double> e = number(dtype, expected), s = number(dtype, seen);
  if (same_bits(e.real(), s.real()) && same_bits(e.imag(), s.imag())) return true;
  return tolerance > 0 && std::abs(e - s) <= tolerance;
}

std::string place(const Shape& shape, Coord element) {
  Shape at = shape;
  for (int d = shape.dims() - 1; d >= 0; --d) {
    at[d] = element % shape[d];
    element /= shape[d];
  }
  return to_string(at);
}

std::string difference(std::string_view name, const Observation& expected, const Observation& seen,
                       const std::vector<double>& tolerances) {
  const std::string who = "'" + std::string(name) + "'";
  if (expected.dtype != seen.dtype)
    return who + " is " + std::string(name_of(seen.dtype)) + ", not " +
           std::string(name_of(expected.dtype));
  if (!(expected.shape == seen.shape))
    return who + " has shape " + to_string(seen.shape) + ", not " + to_string(expected.shape);
  const std::size_t bytes = size_of(seen.dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(seen.shape.size()); ++i) {
    const std::byte* wanted = expected.bytes.data() + i * bytes;
    const std::byte* got = seen.bytes.data() + i * bytes;
    const double tolerance = tolerances.empty() ? 0.0 : tolerances.at(i);
    if (near(seen.dtype, wanted, got, tolerance)) continue;
    return who + ' ' + std::string(name_of(seen.dtype)) + ' ' + to_string(seen.shape) +
           ", element " + place(seen.shape, static_cast<Coord>(i)) + ": " +
           written(seen.dtype, got) + ", not " + written(seen.dtype, wanted) +
           (tolerance > 0 ? " to within " + written(tolerance) : "");
  }
  return "";
}

template <class F>
std::string first_difference(const Program& program, const Outcome& outcome, F&& compare) {
  if (!outcome.complaint.empty()) return outcome.complaint;
  std::size_t i = 0;
  for (const Statement& statement : program.statements) {
    if (statement.tokens.at(0) != "check") continue;
    const std::string wrong = compare(statement.tokens, i, outcome.observed.at(i));
    if (!wrong.empty()) return wrong;
    ++i;
  }
  return "";
}

}  // namespace

std::string against_numpy(const Program& program, const Outcome& outcome) {
  // "check a float64 s:2,3 d:HEX exact", "... near HEX"
  const auto compare = [](const std::vector<std::string_view>& tokens, std::size_t,
                          const Observation& seen) {
    const Observation expected{type_named(tokens.at(2)), shape_of(tokens.at(3)),
                               bytes_of(tokens.at(4).substr(2))};
    std::vector<double> tolerances;
    if (tokens.at(5) == "near") {
      const std::vector<std::byte> bytes = bytes_of(tokens.at(6));
      tolerances.resize(bytes.size() / sizeof(double));
      std::memcpy(tolerances.data(), bytes.data(), bytes.size());
    }
    return difference(tokens.at(1), expected, seen, tolerances);
  };
  return first_difference(program, outcome, compare);
}

std::string against_another(const Program& program, const Outcome& first, const Outcome& outcome) {
  const auto compare = [&](const std::vector<std::string_view>& tokens, std::size_t i,
                           const Observation& seen) {
    return difference(tokens.at(1), first.observed.at(i), seen, {});
  };
  return first_difference(program, outcome, compare);
}

}  // namespace refrain::test::numpy
