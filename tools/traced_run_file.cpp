#include "traced_run_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "refrain/error.hpp"

namespace refrain::tools {
namespace {

constexpr std::size_t kMostNamed = 8;  // contexts in a message

std::uint64_t number(const JsonNode& line, std::string_view name) {
  return static_cast<std::uint64_t>(
      line.at(name).as_integer(0, std::numeric_limits<std::int64_t>::max()));
}

class Reader {
 public:
  Reader(std::string path, std::uint64_t context) : path_(std::move(path)), context_(context) {}

  TracedRunFile read() {
    const std::string text = JsonFile::read(path_, "log of automatic tracing");
    int number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      read_line(text.substr(begin, end - begin), ++number);
      begin = end + 1;
    }
    if (file_.run.calls() == 0) fail_without_calls();
    add_recordings();
    for (const auto& [event, seen] : unknown_)
      file_.notes.push_back(
          fmt::format("{}:{}: the event '{}' is not known: {} ignored", path_, seen.line, event,
                      seen.times == 1 ? "it is" : fmt::format("its {} lines are", seen.times)));
    return std::move(file_);
  }

 private:
  void read_line(const std::string& text, int line) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) return;
    const JsonFile json(text, path_, line);
    const JsonNode& root = json.root();
    const std::string& event = root.at("event").as_string();
    if (event == "analysed" || event == "replayed") {
      if (is_of_context(root)) add_stretch(root, event == "replayed");
    } else if (event == "recorded") {
      if (is_of_context(root)) waiting_.push_back({number(root, "at"), number(root, "calls")});
    } else if (event != "mined" && event != "abandoned") {
      Unknown& seen = unknown_[event];
      if (seen.times++ == 0) seen.line = line;
    }
  }

  bool is_of_context(const JsonNode& root) {
    const std::uint64_t context = number(root, "context");
    contexts_.insert(context);
    return context == context_;
  }

  void add_stretch(const JsonNode& root, bool replayed) {
    const std::uint64_t from = number(root, "from"), to = number(root, "to");
    if (from == 0) before_ = file_.run.calls();
    const std::uint64_t end = file_.run.calls() - before_;
    if (from < end)
      root.at("from").expected(
          fmt::format("a call from {} on, where the stretch before has ended", end));
    if (to <= from) root.at("to").expected(fmt::format("a call after {}", from));
    if (replayed) file_.run.replayed(before_ + from, before_ + to);
    else file_.run.analysed(before_ + from, before_ + to);
    add_recordings();
  }

  /// What happens within a stretch is written before it.
  void add_recordings() {
    for (TracedRun::Recording& recording : waiting_) {
      recording.at += before_;
      file_.run.recorded(recording);
    }
    waiting_.clear();
  }

  [[noreturn]] void fail_without_calls() const {
    if (contexts_.empty())
      throw InputError(
          fmt::format("{}:1:1: expected lines such as "
                      R"({{"context":0,"event":"analysed","from":0,"to":64}}, found none; )"
                      "automatic tracing writes them as calls are made outside of marks, unless it "
                      "is off",
                      path_));
    std::string known;
    std::size_t named = 0;
    for (const std::uint64_t context : contexts_) {
      if (named++ == kMostNamed) {
        known += ", ...";
        break;
      }
      known += (known.empty() ? "" : ", ") + std::to_string(context);
    }
    throw InputError(
        fmt::format("{}: expected calls of context {}, found those of {}", path_, context_, known));
  }

  struct Unknown {
    int line = 0;
    std::uint64_t times = 0;
  };

  const std::string path_;
  const std::uint64_t context_;
  TracedRunFile file_;
  std::uint64_t before_ = 0;  ///< calls of earlier programs
  std::vector<TracedRun::Recording> waiting_;
  std::set<std::uint64_t> contexts_;
  std::map<std::string, Unknown> unknown_;
};

}  // namespace

TracedRunFile read_traced_run(const std::string& path, std::uint64_t context) {
  return Reader(path, context).read();
}

}  // namespace refrain::tools
