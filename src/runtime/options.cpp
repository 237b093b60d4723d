#include "refrain/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/new_file.hpp"
#include "base/text.hpp"
#include "refrain/error.hpp"
#include "report/capture.hpp"
#include "report/listeners.hpp"
#include "report/mapping_record.hpp"
#include "runtime/runtime_impl.hpp"

namespace refrain {

bool checks_by_default() noexcept { return REFRAIN_CHECK_DEFAULT != 0; }

namespace {

constexpr std::string_view prefix = "--refrain:";

/// What a flag takes, and what the member of Options behind it may hold.
struct Kind {
  /// How the help shows the value: "[=...]" where it may be left out, "" where there is none. It is the next word, or
  /// stands after '='; what may be left out is the next word only if that is on or off.
  std::string shown;
  [[nodiscard]] bool may_be_left_out() const { return shown.starts_with('['); }
  std::string expected;  ///< how an error calls a right value
  /// The text (empty: none was given) becomes the member's value. False: it is no such value.
  std::function<bool(Options&, std::string_view)> take;
  /// What the member holds, as take() reads it; empty: nothing.
  std::function<std::string(const Options&)> held = [](const Options&) { return ""; };
  /// The files that are written: as this says, with each of the suffixes behind.
  std::string Options::*path = nullptr;
  std::vector<std::string> suffixes = {""};
  /// Adds the report that is written there.
  std::function<void(runtime::Reports&, const std::string& path, const Machine&)> report = {};
};

struct Flag {
  std::string_view name;  ///< of the member of Options, too, with '_' for '-'
  Kind kind;
  std::string_view help;
};

template <class Number>
bool take_whole(Number& into, std::string_view text, std::type_identity_t<Number> least,
                std::type_identity_t<Number> most) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > most) return false;
  into = number;
  return true;
}

template <class Number>
Kind whole(Number Options::*member, std::type_identity_t<Number> least,
           std::type_identity_t<Number> most) {
  return {
      "N", fmt::format("a whole number from {} to {}", least, most),
      [=](Options& o, std::string_view text) { return take_whole(o.*member, text, least, most); },
      [=](const Options& o) { return std::to_string(o.*member); }};
}

Kind text(std::string Options::*member, const char* shown, const char* expected) {
  return {shown, expected,
          [=](Options& o, std::string_view text) {
            o.*member = text;
            return !text.empty();
          },
          [=](const Options& o) { return o.*member; }};
}

Kind file(std::string Options::*member) {
  Kind kind = text(member, "FILE", "a file to write");
  kind.path = member;
  return kind;
}

/// A listener to such events that writes a file, and whose close() completes it.
template <class Report, class... Events>
Kind report(std::string Options::*member, Events... events) {
  Kind kind = file(member);
  kind.report = [=](runtime::Reports& reports, const std::string& path, const Machine& machine) {
    auto report = std::make_unique<Report>(path, machine);
    auto close = [&file = *report](const runtime::Totals&, bool) { file.close(); };
    reports.add(std::move(report), {events...}, close);
  };
  return kind;
}

/// Files are called as it is, with something behind.
Kind prefix_of(std::string Options::*member, std::vector<std::string> suffixes) {
  Kind kind = text(member, "PREFIX", "a prefix of files to write, not ending in '/'");
  kind.take = [take = kind.take](Options& o, std::string_view text) {
    return take(o, text) && !text.ends_with('/');
  };
  kind.path = member;
  kind.suffixes = std::move(suffixes);
  return kind;
}

bool take_switch(bool& into, std::string_view text) {
  into = text.empty() || text == "on";
  return into || text == "off";
}

Kind on_off(bool Options::*member) {
  return {"[=on|off]", "on or off",
          [=](Options& o, std::string_view text) { return take_switch(o.*member, text); },
          [=](const Options& o) { return o.*member ? "on" : "off"; }};
}

// `paper`: the parameters of Yadav et al., appendix A.5, and of section 4.4 the multiple.
bool take_autotrace(Options& options, std::string_view text) {
  options.autotrace = text != "off";
  if (text == "paper") {
    options.autotrace_min_length = 25;
    options.autotrace_max_length = 0;
    options.autotrace_history = 5000;
    options.autotrace_sample = 500;
  }
  return text == "on" || text == "off" || text == "paper";
}

bool take_order(Options& options, std::string_view text) {
  using Order = Options::Order;
  options.order = text == "path" ? Order::path : text == "fifo" ? Order::fifo : Order::local;
  return text == "path" || text == "fifo" || text == "local";
}

/// Of an enumerator, or its number where there is none.
template <class Enum>
std::string name_of(Enum value, std::initializer_list<const char*> names) {
  const auto number = static_cast<std::size_t>(value);
  return number < names.size() ? names.begin()[number] : std::to_string(number);
}

bool take_check_determinism(Options& options, std::string_view text) {
  bool on = false;
  if (take_switch(on, text)) {
    options.check_determinism = on ? Options().check_determinism : 0;
    return true;
  }
  return take_whole(options.check_determinism, text, 1, 1'000'000);
}

/// "K/N".
bool take_shard(Options& options, std::string_view text) {
  constexpr std::uint32_t kMost = std::uint32_t{1} << 20;
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view of = text.substr(std::min(slash + 1, text.size()));
  Options::Shard& shard = options.shard;
  return take_whole(shard.of, of, 2, kMost) &&
         take_whole(shard.number, text.substr(0, slash), 0, shard.of - 1);
}

bool take_stats(Options& options, std::string_view text) {
  options.stats_file.clear();
  if (take_switch(options.stats, text)) return true;
  options.stats = true;
  options.stats_file = text;
  return true;
}

/// All flags: what is read, checked, helped with and named in errors comes from here. A new flag is a member of
/// Options and an entry; a new report that is a file is its listener, and such an entry.
const std::vector<Flag>& flags() {
  using O = Options;
  using runtime::Events;
  constexpr std::uint64_t million = 1'000'000;
  static const std::vector<Flag> all = {
      {"workers", whole(&O::workers, -1, 4096),
       "worker threads beside the launching one (-1: one fewer than the machine has cpus)"},
      {"window", whole(&O::window, 1, 1000 * million),
       "most operations in flight per context (8192)"},
      {"machine", text(&O::machine, "TEXT|FILE", "a JSON file or a text such as emulated:gpus=2"),
       "run on the machine described (this machine as found)"},
      {"mapper", text(&O::mapper, "NAME", "default"),
       "who decides where tasks run and data lies (default)"},
      {"mapping", text(&O::mapping, "FILE", "a mapping file"), "map by the rules of a file"},
      {"write-mapping", report<runtime::MappingRecord>(&O::write_mapping, Events::decisions),
       "write how the run was mapped, as such a file"},
      {"capture",
       report<runtime::CaptureFile>(&O::capture, runtime::Events::program,
                                    runtime::Events::decisions, runtime::Events::bodies),
       "write the calls and the times of tasks, to be simulated"},
      {"schedule",
       {"SEED", "a whole number from 0 to 2^64-1",
        [](O& o, std::string_view seed) {
          return take_whole(o.schedule.emplace(), seed, 0, UINT64_MAX);
        },
        [](const O& o) { return o.schedule ? std::to_string(*o.schedule) : ""; }},
       "run everything on one thread, in the order this seed decides"},
      {"check", on_off(&O::check),
       "check every access against bounds and privileges (on in debug builds)"},
      {"stats",
       {.shown = "[=on|off|FILE.json]",
        .expected = "on, off or a file",
        .take = take_stats,
        .held = [](const O& o) { return o.stats_file.empty() && o.stats ? "on" : o.stats_file; },
        .path = &O::stats_file},
       "print counters at exit, or write them to a file (off)"},
      {"timeline", file(&O::timeline), "write the timeline, for Perfetto or chrome://tracing"},
      {"graph", report<runtime::GraphFile>(&O::graph, Events::graph),
       "write the executed task graph, for Graphviz"},
      {"graph-calculus", report<runtime::RecordingsFile>(&O::graph_calculus, Events::recordings),
       "write what is recorded of traces, in graph calculus"},
      {"explain", prefix_of(&O::explain, {".txt", ".json"}),
       "write to PREFIX.txt and PREFIX.json what was replayed, what was analysed and why"},
      {"tracing", on_off(&O::tracing), "record and replay traces (on)"},
      {"trace-optimize", on_off(&O::trace_optimize), "leave out edges that others imply (on)"},
      {"trace-length", whole(&O::trace_length, 1, 100 * million),
       "most operations of one recording (1000000)"},
      {"trace-memory",
       {"SIZE", "a size such as 64MiB, below 2^63 bytes",
        [](O& o, std::string_view size) {
          const auto parsed = parse_size(size);
          o.trace_memory = parsed.value_or(0);
          return parsed.has_value();
        },
        [](const O& o) { return std::to_string(o.trace_memory); }},
       "most memory for the recordings of a context (1GiB)"},
      {"autotrace",
       {"on|off|paper", "on, off or paper", take_autotrace,
        [](const O& o) { return o.autotrace ? "on" : "off"; }},
       "find traces where the program has marked none; paper: as published (on)"},
      {"autotrace-min-length", whole(&O::autotrace_min_length, 1, million),
       "least work of a trace that is found: calls, a launch as often as it has points (16)"},
      {"autotrace-max-length", whole(&O::autotrace_max_length, 0, 100 * million),
       "most calls of a trace that is found; 0: no limit (0)"},
      {"autotrace-history", whole(&O::autotrace_history, 2, 100 * million),
       "calls among which repeats are looked for (16384)"},
      {"autotrace-sample", whole(&O::autotrace_sample, 1, 100 * million),
       "repeats are looked for among a multiple of so many calls (64)"},
      {"autotrace-log", report<runtime::AutotraceFile>(&O::autotrace_log, Events::autotrace),
       "write what automatic tracing does, as JSON lines"},
      {"record", file(&O::record),
       "record which calls the program makes, for warm starts and the oracle"},
      {"warm-start", text(&O::warm_start, "FILE", "a file that an earlier run has recorded"),
       "begin with what repeats in the calls that an earlier run has recorded"},
      {"order",
       {"local|fifo|path", "local, fifo or path", take_order,
        [](const O& o) {
          return name_of(o.order, {"local", "fifo", "path"});
        }},
       "which ready task comes first: made ready last, made ready first, or with the longest path "
       "behind it (local)"},
      {"output",
       {"first|all", "first or all",
        [](O& o, std::string_view text) {
          o.output = text == "all" ? O::Output::all : O::Output::first;
          return text == "all" || text == "first";
        },
        [](const O& o) {
          return name_of(o.output, {"first", "all"});
        }},
       "of several processes: standard output and reports of rank 0, or of all (first)"},
      {"check-determinism",
       {"[=N|on|off]", "a whole number from 1 to 1000000, on or off", take_check_determinism,
        [](const O& o) {
          return o.check_determinism == 0 ? "off" : std::to_string(o.check_determinism);
        }},
       "of several processes: look after so many calls whether all make the same (1024)"},
      {"hang-after", whole(&O::hang_after, 0, million),
       "of several processes: the run ends when one waits for so many seconds; 0: it may (0)"},
      {"shard",
       {"K/N", "a shard and their number, as in 0/64, below 2^20", take_shard,
        [](const O& o) {
          return o.shard.of == 0 ? "" : fmt::format("{}/{}", o.shard.number, o.shard.of);
        }},
       "run as shard K of N without the others; together with dry"},
      {"dry", on_off(&O::dry),
       "after the first fence tasks do nothing, for measuring the analysis of a shard (off)"},
      {"help",
       {"", "no value", [](O& o, std::string_view text) { return o.help = text.empty(); }},
       "list these flags"},
  };
  return all;
}

const Flag& flag_called(std::string_view name, std::string_view source) {
  std::vector<std::string_view> names;
  for (const Flag& flag : flags()) {
    if (flag.name == name) return flag;
    names.push_back(flag.name);
  }
  throw InputError(
      fmt::format("{}: unknown flag '{}{}'{}", source, prefix, name, did_you_mean(name, names)));
}

// Reads the flag at words[i]; the number of words it took. `source`: where they stood, for messages.
std::size_t read_flag(Options& options, std::string_view source,
                      const std::vector<std::string>& words, std::size_t i) {
  std::string_view word = words[i];
  word.remove_prefix(prefix.size());
  const std::size_t equals = word.find('=');
  const auto& [name, kind, help] = flag_called(word.substr(0, equals), source);
  const std::string* next = i + 1 < words.size() ? &words[i + 1] : nullptr;
  std::string_view value;
  bool is_next = false;
  if (equals != std::string_view::npos) {
    value = word.substr(equals + 1);
  } else if (kind.may_be_left_out()) {
    is_next = next != nullptr && (*next == "on" || *next == "off");
  } else if (!kind.shown.empty()) {
    is_next = next != nullptr && !next->starts_with("--");
    if (!is_next)
      throw InputError(fmt::format("{}: {}{} needs a value: expected {}, found {}", source, prefix,
                                   name, kind.expected,
                                   next == nullptr ? "nothing" : "'" + *next + "'"));
  }
  if (is_next) value = *next;
  // "=" with nothing after it is a slip (an empty shell variable), never "no value".
  if ((equals != std::string_view::npos && value.empty()) || !kind.take(options, value))
    throw InputError(fmt::format("{}: {}{}: expected {}, found '{}'", source, prefix, name,
                                 kind.expected, value));
  return is_next ? 2 : 1;
}

// Splits at blanks, as a shell would: quotes keep blanks, a backslash keeps the next character (inside
// '...' it is a character like any other).
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_blank = quote == 0 && (c == ' ' || c == '\t' || c == '\n');
    if (!is_blank && !in_word) words.emplace_back();
    in_word = !is_blank;
    if (is_blank) continue;
    if (c == quote) quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"')) quote = c;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size()) words.back() += text[++i];
    else words.back() += c;
  }
  if (quote != 0)
    throw InputError(fmt::format("REFRAIN_ARGS: a quote {} is not closed in: {}", quote, text));
  return words;
}

void read_environment(Options& options) {
  const char* text = std::getenv("REFRAIN_ARGS");
  const std::vector<std::string> words = split_words(text != nullptr ? text : "");
  for (std::size_t i = 0; i < words.size();) {
    if (!words[i].starts_with(prefix))
      throw InputError(
          fmt::format("REFRAIN_ARGS: expected a flag {}NAME, found '{}'", prefix, words[i]));
    i += read_flag(options, "REFRAIN_ARGS", words, i);
  }
}

/// Throws InputError when two flags name one file, however they spell it. What is no regular file, or the program's
/// output, may have several.
void check_different_files(const Options& options) {
  namespace fs = std::filesystem;
  std::error_code none;
  // Of a relative path of which nothing is there yet the canonical one would be relative, too.
  const auto named = [&none](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, none), none);
  };
  std::vector<std::pair<std::string_view, std::string>> seen;  // flag, path
  for (const auto& [name, kind, help] : flags()) {
    if (kind.path == nullptr || (options.*kind.path).empty()) continue;
    for (const std::string& suffix : kind.suffixes) {
      const std::string path = options.*kind.path + suffix;
      const bool is_special = descriptor_of(path).has_value() ||
                              (fs::exists(path, none) && !fs::is_regular_file(path, none));
      for (const auto& [other, same] : seen)
        if (!is_special && (fs::equivalent(path, same, none) || named(path) == named(same)))
          throw InputError(fmt::format(
              "--refrain:{} and --refrain:{} write to one file, '{}'{}; give each a file of its "
              "own",
              name, other, path, path == same ? "" : fmt::format(" and '{}'", same)));
      seen.emplace_back(name, path);
    }
  }
}

}  // namespace

void runtime::Reports::add_files(const Options& options, const Machine& machine) {
  for (const Flag& flag : flags())
    if (flag.kind.report && !(options.*flag.kind.path).empty())
      flag.kind.report(*this, options.*flag.kind.path, machine);
}

std::vector<net::Item> runtime::items_of(const Options& options) {
  std::vector<net::Item> items;
  for (const auto& [name, kind, help] : flags())
    items.push_back({fmt::format("{}{}", prefix, name), kind.held(options)});
  return items;
}

const Options& runtime::checked(const Options& options) {
  for (const auto& [name, kind, help] : flags()) {
    Options taken;
    const std::string held = kind.held(options);
    if (held.empty() || kind.take(taken, held)) continue;
    std::string member(name);
    std::ranges::replace(member, '-', '_');
    const char* const quote = kind.path != nullptr ? "'" : "";
    throw InputError(fmt::format("Options::{} ({}{}): expected {}, found {}{}{}", member, prefix,
                                 name, kind.expected, quote, held, quote));
  }
  check_different_files(options);
  if (options.dry != (options.shard.of > 0))
    throw InputError(fmt::format("{0}dry and {0}shard K/N: expected both or none, found {1}",
                                 prefix, options.dry ? "dry alone" : "shard alone"));
  return options;
}

Options parse_options(int& argc, char** argv) {
  Options options;
  read_environment(options);
  const std::vector<std::string> words(argv, argv + argc);
  std::size_t kept = 0;
  bool own_only = false;
  for (std::size_t i = 0; i < words.size();) {
    if (i > 0 && !own_only && words[i].starts_with(prefix)) {
      i += read_flag(options, "argv", words, i);
      continue;
    }
    if (i > 0 && words[i] == "--") own_only = true;
    if (i > 0 && !own_only && words[i] == "--help") options.help = true;
    argv[kept++] = argv[i++];
  }
  argc = static_cast<int>(kept);
  if (kept < words.size()) argv[kept] = nullptr;
  return options;
}

std::string flags_help() {
  std::string text = "Runtime flags, also read from REFRAIN_ARGS:\n";
  for (const auto& [name, kind, help] : flags()) {
    const char* const blank = kind.shown.empty() || kind.may_be_left_out() ? "" : " ";
    text += fmt::format("  {:<34} {}\n", fmt::format("{}{}{}{}", prefix, name, blank, kind.shown),
                        help);
  }
  return text;
}

}  // namespace refrain
