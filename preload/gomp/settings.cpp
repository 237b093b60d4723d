#include "gomp/settings.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace refrain::gomp {
namespace {

/// Calls `read` with the variable's value, if it has one; says so, if that returns false.
template <class Read>
void variable(const char* name, const char* wanted, Read read) {
  const char* value = std::getenv(name);
  if (!value || !*value || read(std::string_view(value))) return;
  std::fprintf(stderr, "refrain: %s=%s is not understood; it should be %s\n", name, value, wanted);
}

/// Whether it is `yes`, or `no`.
bool read_switch(std::string_view value, std::string_view yes, std::string_view no, bool& result) {
  result = value == yes;
  return value == yes || value == no;
}

bool read_choice(std::string_view value, Choice& choice) {
  if (value == "learn") choice = Choice::learn;
  else if (value == "thresholds") choice = Choice::thresholds;
  else if (value == "program") choice = Choice::program;
  else return false;
  return true;
}

bool read_thresholds(std::string_view value, Thresholds& thresholds) {
  const auto parsed = Thresholds::parse(value);
  if (parsed) thresholds = *parsed;
  return parsed.has_value();
}

bool read_percentage(std::string_view value, double& share) {
  double percent = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), percent);
  if (error != std::errc{} || end != value.data() + value.size()) return false;
  if (!(percent >= 0 && percent <= 100)) return false;
  share = percent / 100;
  return true;
}

Settings read() {
  Settings result;
  variable("REFRAIN_ORACLE_THREADS", "learn, thresholds or program",
           [&](auto value) { return read_choice(value, result.choice); });
  variable("REFRAIN_ORACLE_TEAMS", "safe or any", [&](auto value) {
    bool any = false;
    const bool read = read_switch(value, "any", "safe", any);
    result.teams = any ? Teams::any : Teams::safe;
    return read;
  });
  const char* const record = std::getenv("REFRAIN_ORACLE_RECORD");
  result.recorded = record != nullptr && *record != '\0';
  variable("REFRAIN_ORACLE_THRESHOLDS", "like 1:5,2:20: at most so many threads below so many us",
           [&](auto value) { return read_thresholds(value, result.thresholds); });
  variable("REFRAIN_ORACLE_CLAUSES", "keep or limit",
           [&](auto value) { return read_switch(value, "limit", "keep", result.limit_clauses); });
  variable("REFRAIN_ORACLE_KEEP_THREADS", "yes or no",
           [&](auto value) { return read_switch(value, "yes", "no", result.keep_threads); });
  variable("REFRAIN_ORACLE_UNEXPECTED", "a percentage",
           [&](auto value) { return read_percentage(value, result.unexpected); });
  return result;
}

}  // namespace

const Settings& Settings::get() {
  static const Settings settings = read();
  return settings;
}

}  // namespace refrain::gomp
