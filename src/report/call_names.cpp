#include "report/call_names.hpp"

#include <fmt/format.h>

#include <charconv>

namespace refrain::runtime {

namespace {

constexpr std::string_view kBeforeToken = " 0x";
constexpr std::size_t kDigits = 16;
constexpr std::string_view kMarked = ", marked";

}  // namespace

std::string call_name(const CallLog::Call& call) {
  if (!call.traceable) return std::string(call.name);
  return fmt::format("{}{}{:016x}{}", call.name, kBeforeToken, call.token,
                     call.marked ? kMarked : "");
}

std::optional<NamedCall> call_named(std::string_view name) {
  NamedCall call;
  call.marked = name.ends_with(kMarked);
  if (call.marked) name.remove_suffix(kMarked.size());
  if (name.size() < kBeforeToken.size() + kDigits) return std::nullopt;
  const std::string_view digits = name.substr(name.size() - kDigits);
  if (!name.substr(0, name.size() - kDigits).ends_with(kBeforeToken)) return std::nullopt;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), call.token, 16);
  if (error != std::errc() || end != digits.end()) return std::nullopt;
  return call;
}

}  // namespace refrain::runtime
