#pragma once
// Text for people: quantities in flags and descriptions, answers to mistyped names, and exceptions of the program's own
// functions (bodies, operators, mappers, projections). Pure functions.
//
// Quantities are sizes ("64MiB", "1.5GB", "4096"), bandwidths ("16GB/s"), durations ("1.5us") and rates of computing
// ("9.3TFlop/s"): a number (digits, at most one point) and a unit, with or without a blank between them. KB, MB, GB and
// TB are powers of 1000; KiB, MiB, GiB and TiB are powers of 1024; B or nothing means bytes. Durations need a unit: ns,
// us, ms or s. Letters may be of either case. Nothing else is accepted: no sign, no exponent, no further text. Sizes are
// rounded to the nearest byte.

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace refrain {

/// Bytes, or nothing when `text` is no size or is 2^63 or more.
std::optional<std::uint64_t> parse_size(std::string_view text);
/// Bytes per second, or nothing; a size followed by "/s".
std::optional<double> parse_bandwidth(std::string_view text);
/// Seconds, or nothing.
std::optional<double> parse_duration(std::string_view text);

/// Floating-point operations per second, or nothing: Flop/s, KFlop/s, MFlop/s, GFlop/s, TFlop/s or PFlop/s.
std::optional<double> parse_flops(std::string_view text);

/// A text that parse_size reads back to the same value: "64MiB" where a unit divides it, else "1000B".
std::string exact_size(std::uint64_t bytes);
/// For people: at most four significant digits and a binary unit, "15.63GiB".
std::string short_size(std::uint64_t bytes);
/// For people, and parsed back: "16GB/s".
std::string short_bandwidth(double bytes_per_second);
/// For people, and parsed back: "1.5us".
std::string short_duration(double seconds);
/// For people, and parsed back: "9.3TFlop/s".
std::string short_flops(double operations_per_second);
/// For people: "1'234'567".
std::string grouped(std::uint64_t number);

/// "a, b, c". (fmt::join warns with GCC 12 at -O3.)
std::string joined(std::span<const std::string_view> texts);

/// What to say after "unknown name 'gpu'": "; did you mean 'gpus'?", or, when no candidate is near,
/// "; known are cpus, gpus". Near is the candidate with the fewest single-character edits (insert, remove, replace), the
/// first of several, unless it differs in more than half of its characters. Cost: the product of the lengths, per
/// candidate.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// what() of the exception; of one that is no std::exception, its type.
std::string text_of(const std::exception_ptr& error);
/// "TYPE: what()"; of one that is no std::exception, the type alone.
std::string type_and_text_of(const std::exception_ptr& error);
/// In a handler: the type's name as programs write it.
std::string type_of_current_exception();

/// In a handler: throws a UsageError "WHO: TEXT OF THE EXCEPTION", in which the exception is nested
/// (std::rethrow_if_nested).
[[noreturn]] void fail_around(const std::string& who);

}  // namespace refrain
