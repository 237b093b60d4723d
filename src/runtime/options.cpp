#include "refrain/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "refrain/error.hpp"
#include "runtime/check_options.hpp"

namespace refrain {

bool checks_by_default() noexcept {
#if defined(REFRAIN_CHECK_DEFAULT) && REFRAIN_CHECK_DEFAULT
  return true;
#else
  return false;
#endif
}

namespace {

constexpr std::string_view prefix = "--refrain:";

enum class Value {
  required,  // the next word, or after '='
  optional,  // after '=', or the next word if it is on or off
  none,
};

/// The numbers that a member may have, by a flag or by the program. Without a member: it is no number.
struct Range {
  std::int64_t least = 0;
  std::uint64_t most = 0;
  int Options::*number = nullptr;
  std::size_t Options::*count = nullptr;

  [[nodiscard]] constexpr explicit operator bool() const {
    return number != nullptr || count != nullptr;
  }
  [[nodiscard]] std::string expected() const {
    return fmt::format("a whole number from {} to {}", least, most);
  }
  /// What the member holds, as a text; empty: it is in the range.
  [[nodiscard]] std::string found_beyond(const Options& options) const {
    const auto beyond = [this](auto value) {
      return std::cmp_less(value, least) || std::cmp_greater(value, most) ? std::to_string(value)
                                                                          : std::string();
    };
    return number != nullptr ? beyond(options.*number) : beyond(options.*count);
  }
};

constexpr std::uint64_t million = 1'000'000;
constexpr Range from_to(std::int64_t least, std::uint64_t most, int Options::*member) {
  return {least, most, member, nullptr};
}
constexpr Range from_to(std::int64_t least, std::uint64_t most, std::size_t Options::*member) {
  return {least, most, nullptr, member};
}

template <class Number>
bool take_whole(Number& into, std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return false;
  into = number;
  return true;
}

bool take_in_range(const Range& range, Options& options, std::string_view text) {
  const bool is_whole = range.number != nullptr ? take_whole(options.*range.number, text)
                                                : take_whole(options.*range.count, text);
  return is_whole && range.found_beyond(options).empty();
}

// Takes a flag's value (empty when none was given) into the options; false when it is no such value.
using Take = bool (*)(Options&, std::string_view);

struct Flag {
  std::string_view name;
  Value value;
  std::string_view shown_value;  // how the help shows the value
  std::string_view expected;     // how an error calls a right value; of a number its range does
  std::string_view help;
  Take take;  // of a number: null
  Range range = {};

  [[nodiscard]] std::string right_value() const {
    return range ? range.expected() : std::string(expected);
  }
  /// The member of Options is called as the flag is.
  [[nodiscard]] std::string member() const {
    std::string member(name);
    std::ranges::replace(member, '-', '_');
    return member;
  }
};

bool take_text(std::string& into, std::string_view text) {
  into = text;
  return !text.empty();
}

/// What names are made of by adding to it.
bool take_prefix(std::string& into, std::string_view text) {
  return take_text(into, text) && !text.ends_with('/');
}

bool take_size(std::size_t& into, std::string_view text) {
  const auto size = parse_size(text);
  if (size) into = *size;
  return size.has_value();
}

bool take_switch(bool& into, std::string_view text) {
  into = text.empty() || text == "on";
  return into || text == "off";
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

// All flags. A new flag is one more entry.
constexpr Flag flags[] = {
    {"workers", Value::required, "N", "",
     "worker threads beside the launching one (-1: one fewer than the machine has cpus)", nullptr,
     from_to(-1, 4096, &Options::workers)},
    {"window", Value::required, "N", "", "most operations in flight per context (8192)", nullptr,
     from_to(1, 1000 * million, &Options::window)},
    {"machine", Value::required, "TEXT|FILE", "a JSON file or a text such as emulated:gpus=2",
     "run on the machine described (this machine as found)",
     [](Options& o, std::string_view v) { return take_text(o.machine, v); }},
    {"mapper", Value::required, "NAME", "default",
     "who decides where tasks run and data lies (default)",
     [](Options& o, std::string_view v) { return take_text(o.mapper, v); }},
    {"schedule", Value::required, "SEED", "a whole number from 0 to 2^64-1",
     "run everything on one thread, in the order this seed decides",
     [](Options& o, std::string_view v) { return take_whole(o.schedule.emplace(), v); }},
    {"check", Value::optional, "[=on|off]", "on or off",
     "check every access against bounds and privileges (on in debug builds)",
     [](Options& o, std::string_view v) { return take_switch(o.check, v); }},
    {"stats", Value::optional, "[=on|off|FILE.json]", "on, off or a file",
     "print counters at exit, or write them to a file (off)",
     [](Options& o, std::string_view v) {
       o.stats_file.clear();
       if (!take_switch(o.stats, v)) {
         o.stats = true;
         o.stats_file = v;
       }
       return true;
     }},
    {"timeline", Value::required, "FILE", "a file to write",
     "write the timeline, for Perfetto or chrome://tracing",
     [](Options& o, std::string_view v) { return take_text(o.timeline, v); }},
    {"graph", Value::required, "FILE", "a file to write",
     "write the executed task graph, for Graphviz",
     [](Options& o, std::string_view v) { return take_text(o.graph, v); }},
    {"graph-calculus", Value::required, "FILE", "a file to write",
     "write what is recorded of traces, in graph calculus",
     [](Options& o, std::string_view v) { return take_text(o.graph_calculus, v); }},
    {"explain", Value::required, "PREFIX", "a prefix of files to write, not ending in '/'",
     "write to PREFIX.txt and PREFIX.json what was replayed, what was analysed and why",
     [](Options& o, std::string_view v) { return take_prefix(o.explain, v); }},
    {"tracing", Value::optional, "[=on|off]", "on or off", "record and replay traces (on)",
     [](Options& o, std::string_view v) { return take_switch(o.tracing, v); }},
    {"trace-optimize", Value::optional, "[=on|off]", "on or off",
     "leave out edges that others imply (on)",
     [](Options& o, std::string_view v) { return take_switch(o.trace_optimize, v); }},
    {"trace-length", Value::required, "N", "", "most operations of one recording (1000000)",
     nullptr, from_to(1, 100 * million, &Options::trace_length)},
    {"trace-memory", Value::required, "SIZE", "a size such as 64MiB",
     "most memory for the recordings of a context (1GiB)",
     [](Options& o, std::string_view v) { return take_size(o.trace_memory, v); }},
    {"autotrace", Value::required, "on|off|paper", "on, off or paper",
     "find traces where the program has marked none; paper: as published (on)", take_autotrace},
    {"autotrace-min-length", Value::required, "N", "", "fewest calls of a trace that is found (16)",
     nullptr, from_to(1, million, &Options::autotrace_min_length)},
    {"autotrace-max-length", Value::required, "N", "",
     "most calls of a trace that is found; 0: no limit (0)", nullptr,
     from_to(0, 100 * million, &Options::autotrace_max_length)},
    {"autotrace-history", Value::required, "N", "",
     "calls among which repeats are looked for (16384)", nullptr,
     from_to(2, 100 * million, &Options::autotrace_history)},
    {"autotrace-sample", Value::required, "N", "",
     "repeats are looked for among a multiple of so many calls (64)", nullptr,
     from_to(1, 100 * million, &Options::autotrace_sample)},
    {"autotrace-log", Value::required, "FILE", "a file to write",
     "write what automatic tracing does, as JSON lines",
     [](Options& o, std::string_view v) { return take_text(o.autotrace_log, v); }},
    {"record", Value::required, "FILE", "a file to write",
     "record which calls the program makes, for warm starts and the oracle",
     [](Options& o, std::string_view v) { return take_text(o.record, v); }},
    {"warm-start", Value::required, "FILE", "a file that an earlier run has recorded",
     "begin with what repeats in the calls that an earlier run has recorded",
     [](Options& o, std::string_view v) { return take_text(o.warm_start, v); }},
    {"order", Value::required, "local|fifo|path", "local, fifo or path",
     "which ready task comes first: made ready last, made ready first, or with the longest path "
     "behind it (local)",
     take_order},
    {"help", Value::none, "", "no value", "list these flags",
     [](Options& o, std::string_view) { return o.help = true; }},
};

const Flag& flag_called(std::string_view name, std::string_view source = {}) {
  std::vector<std::string_view> names;
  for (const Flag& flag : flags) {
    if (flag.name == name) return flag;
    names.push_back(flag.name);
  }
  throw InputError(
      fmt::format("{}: unknown flag '{}{}'{}", source, prefix, name, did_you_mean(name, names)));
}

// One reading of a list of words: takes runtime flags, tells where they stood.
class FlagReader {
 public:
  FlagReader(Options& options, std::string_view source) : options_(options), source_(source) {}

  // Reads the flag at words[i]; the number of words it took.
  std::size_t read(const std::vector<std::string>& words, std::size_t i) {
    std::string_view word = words[i];
    word.remove_prefix(prefix.size());
    const std::size_t equals = word.find('=');
    const Flag& flag = flag_called(word.substr(0, equals), source_);
    if (equals != std::string_view::npos) {
      // "=" with nothing after it is a slip (an empty shell variable), never "no value".
      const std::string_view value = word.substr(equals + 1);
      if (value.empty() || flag.value == Value::none) wrong(flag, value);
      take(flag, value);
      return 1;
    }
    const std::string* next = i + 1 < words.size() ? &words[i + 1] : nullptr;
    if (flag.value == Value::required) {
      if (next == nullptr || next->starts_with("--"))
        throw InputError(fmt::format("{}: {}{} needs a value: expected {}, found {}", source_,
                                     prefix, flag.name, flag.right_value(),
                                     next == nullptr ? "nothing" : "'" + *next + "'"));
      take(flag, *next);
      return 2;
    }
    const bool has_switch =
        flag.value == Value::optional && next != nullptr && (*next == "on" || *next == "off");
    take(flag, has_switch ? std::string_view(*next) : std::string_view());
    return has_switch ? 2 : 1;
  }

 private:
  void take(const Flag& flag, std::string_view value) {
    if (!(flag.range ? take_in_range(flag.range, options_, value) : flag.take(options_, value)))
      wrong(flag, value);
  }
  [[noreturn]] void wrong(const Flag& flag, std::string_view value) const {
    throw InputError(fmt::format("{}: {}{}: expected {}, found '{}'", source_, prefix, flag.name,
                                 flag.right_value(), value));
  }

  Options& options_;
  std::string_view source_;
};

// Splits at blanks, as a shell would: quotes keep blanks, a backslash keeps the next character (inside
// '...' it is a character like any other).
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0)
    throw InputError(fmt::format("REFRAIN_ARGS: a quote {} is not closed in: {}", quote, text));
  return words;
}

void read_environment(Options& options) {
  const char* text = std::getenv("REFRAIN_ARGS");
  if (text == nullptr) return;
  const std::vector<std::string> words = split_words(text);
  FlagReader reader(options, "REFRAIN_ARGS");
  for (std::size_t i = 0; i < words.size();) {
    if (!words[i].starts_with(prefix))
      throw InputError(
          fmt::format("REFRAIN_ARGS: expected a flag {}NAME, found '{}'", prefix, words[i]));
    i += reader.read(words, i);
  }
}

}  // namespace

namespace runtime {

void check_options(const Options& options) {
  const auto fail = [](const Flag& flag, const std::string& expected, const std::string& found) {
    throw InputError(fmt::format("Options::{} ({}{}): expected {}, found {}", flag.member(), prefix,
                                 flag.name, expected, found));
  };
  for (const Flag& flag : flags)
    if (flag.range)
      if (const std::string found = flag.range.found_beyond(options); !found.empty())
        fail(flag, flag.right_value(), found);
  if (options.order > Options::Order::path) {
    const Flag& order = flag_called("order");
    fail(order, order.right_value(), std::to_string(static_cast<int>(options.order)));
  }
  if (options.explain.ends_with('/')) {
    const Flag& explain = flag_called("explain");
    fail(explain, explain.right_value(), "'" + options.explain + "'");
  }
  if (options.trace_memory > std::numeric_limits<std::size_t>::max() / 2)
    fail(flag_called("trace-memory"), "a size below 2^63 bytes",
         std::to_string(options.trace_memory));
}

}  // namespace runtime

Options parse_options(int& argc, char** argv) {
  Options options;
  read_environment(options);
  // What argv held at the start, since it is closed up while it is read.
  const std::vector<std::string> words(argv, argv + argc);
  const std::vector<char*> originals(argv, argv + argc);
  FlagReader reader(options, "argv");
  std::size_t kept = 0;
  bool own_only = false;
  for (std::size_t i = 0; i < words.size();) {
    if (i > 0 && !own_only && words[i].starts_with(prefix)) {
      i += reader.read(words, i);
      continue;
    }
    if (i > 0 && words[i] == "--") own_only = true;
    if (i > 0 && !own_only && words[i] == "--help") options.help = true;
    argv[kept++] = originals[i++];
  }
  argc = static_cast<int>(kept);
  if (kept < words.size()) argv[kept] = nullptr;
  return options;
}

std::string flags_help() {
  std::string text = "Runtime flags, also read from REFRAIN_ARGS:\n";
  for (const Flag& flag : flags) {
    const bool attached = flag.shown_value.starts_with("[") || flag.shown_value.empty();
    const std::string shown =
        fmt::format("{}{}{}{}", prefix, flag.name, attached ? "" : " ", flag.shown_value);
    text += fmt::format("  {:<34} {}\n", shown, flag.help);
  }
  return text;
}

}  // namespace refrain
