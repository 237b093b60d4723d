#include "map/program_runs.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/json.hpp"
#include "base/new_file.hpp"
#include "map/guarded_process.hpp"
#include "map/temporary_folder.hpp"
#include "mapping/mapping_file.hpp"
#include "refrain/error.hpp"

namespace refrain::map {
namespace {

namespace fs = std::filesystem;
using map_search::Outcome, map_search::Run;

/// Of each run, whose files they name.
constexpr std::array<std::string_view, 3> kFlags{"--refrain:mapping", "--refrain:stats",
                                                 "--refrain:write-mapping"};

/// In the texts of the runtime's OutOfMemory, and of the language's own error.
constexpr std::array<std::string_view, 3> kOutOfMemory{"no memory for ", "memory ran out",
                                                       "std::bad_alloc"};
/// In the error of a mapping file about a task that the program does not have.
constexpr std::string_view kNoSuchTask = "no task is called";

/// The files of one run.
class RunFolder {
 public:
  explicit RunFolder(const std::string& folder) : folder_(folder, "run") {}
  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  [[nodiscard]] std::string mapping() const { return folder_.file("mapping.json"); }
  [[nodiscard]] std::string statistics() const { return folder_.file("statistics.json"); }
  [[nodiscard]] std::vector<std::string> flags() const {
    return {fmt::format("{}={}", kFlags[0], mapping()),
            fmt::format("{}={}", kFlags[1], statistics()),
            fmt::format("{}={}", kFlags[2], mapped())};
  }
  [[nodiscard]] std::string mapped() const { return folder_.file("mapped.json"); }
  [[nodiscard]] std::string output() const { return folder_.file("output.txt"); }
  [[nodiscard]] std::string errors() const { return folder_.file("errors.txt"); }

 private:
  const TemporaryFolder folder_;
};

/// At most so many bytes of a text, which is cut between characters.
std::string shortened(std::string text) {
  constexpr std::size_t most = 500;
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

/// For people, who know nothing of the run's folder, which is gone.
std::string told(std::string line, const RunFolder& files) {
  const std::string folder = files.path() + '/';
  for (std::size_t at = 0; (at = line.find(folder, at)) != std::string::npos;)
    line.erase(at, folder.size());
  return shortened(std::move(line));
}

/// The lines of standard error that say what has happened, the first ones of their kind; empty: there is none.
struct Errors {
  std::string out_of_memory, about_mapping, about_reports, last;

  explicit Errors(const RunFolder& files) {
    std::ifstream in(files.errors(), std::ios::binary);
    const auto note = [&](std::string& first, const std::string& line, std::string_view part) {
      if (first.empty() && line.find(part) != std::string::npos) first = told(line, files);
    };
    for (std::string line; std::getline(in, line);) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      for (const std::string_view part : kOutOfMemory) note(out_of_memory, line, part);
      note(about_mapping, line, files.mapping());
      note(about_reports, line, files.statistics());
      note(about_reports, line, files.mapped());
      last = told(line, files);
    }
  }
};

std::string way_of(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("it ended with status {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const char* const name = ::sigabbrev_np(signal);
  return fmt::format("it was ended by SIG{} ({})", name == nullptr ? "?" : name, signal);
}

/// A run without success.
Run failed(int status, const Errors& errors) {
  if (!errors.about_reports.empty())
    throw Error("the program cannot write its reports: " + errors.about_reports);
  if (!errors.out_of_memory.empty()) return {Outcome::out_of_memory, 0, 0, 0, errors.out_of_memory};
  if (!errors.about_mapping.empty()) {
    const bool is_task = errors.about_mapping.find(kNoSuchTask) != std::string::npos;
    return {is_task ? Outcome::changed : Outcome::invalid, 0, 0, 0, errors.about_mapping};
  }
  const std::string last = errors.last.empty() ? "" : ": " + errors.last;
  return {Outcome::crashed, 0, 0, 0, way_of(status) + last};
}

/// The tasks that were launched.
std::set<std::string> tasks_in(const std::string& mapped) {
  const JsonFile file(JsonFile::read(mapped, "mapping file"), mapped);
  std::set<std::string> names;
  for (const JsonNode& rule : file.root().at("rules").as_array())
    names.insert(rule.at("task").as_string());
  return names;
}

/// The first name that is in the one set alone; null: there is none.
const std::string* only_in(const std::set<std::string>& one, const std::set<std::string>& other) {
  const auto found =
      std::ranges::find_if(one, [&](const std::string& name) { return !other.contains(name); });
  return found == one.end() ? nullptr : &*found;
}

/// What the reports of a run say. Throws InputError where they are damaged.
Run told_by_reports(const RunFolder& files, const std::set<std::string>& tasks,
                    bool launch_others) {
  const std::set<std::string> launched = tasks_in(files.mapped());
  if (const std::string* name = launch_others ? nullptr : only_in(launched, tasks))
    return {Outcome::changed, 0, 0, 0, fmt::format("it launched another task, '{}'", *name)};
  if (const std::string* name = only_in(tasks, launched))
    return {Outcome::changed, 0, 0, 0, fmt::format("it did not launch the task '{}'", *name)};
  const JsonFile file(JsonFile::read(files.statistics(), "statistics"), files.statistics());
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  Run run;
  run.seconds = static_cast<double>(file.root().at("wall_ns").as_integer(0, most)) * 1e-9;
  for (const JsonNode& link : file.root().at("links").as_array())
    run.bytes += static_cast<std::uint64_t>(link.at("bytes").as_integer(0, most));
  return run;
}

/// A run that ended with success.
Run succeeded(const RunFolder& files, const std::set<std::string>& tasks, bool launch_others) {
  for (const std::string& report : {files.statistics(), files.mapped()})
    if (!fs::exists(report))
      return {Outcome::no_output, 0, 0, 0,
              "it ended well, and has written no statistics; is it a program of Refrain?"};
  try {
    return told_by_reports(files, tasks, launch_others);
  } catch (const InputError& error) {
    return {Outcome::no_output, 0, 0, 0, "its reports are damaged: " + told(error.what(), files)};
  }
}

}  // namespace

ProgramRuns::ProgramRuns(std::vector<std::string> command, MappingText mapping_text,
                         std::set<std::string> tasks, ProgramRunsOptions options)
    : command_(std::move(command)),
      mapping_text_(std::move(mapping_text)),
      tasks_(std::move(tasks)),
      options_(std::move(options)) {
  if (command_.empty()) throw Error("there is no program to run");
  for (const std::string& word : command_)
    for (const std::string_view flag : kFlags)
      if (word == flag || word.starts_with(fmt::format("{}=", flag)))
        throw Error(fmt::format(
            "the program's arguments have {}, which the search sets for each run; leave it out",
            flag));
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (error)
    throw Error(
        fmt::format("the folder '{}' cannot be made: {}", options_.folder, error.message()));
}

Run ProgramRuns::run(const map_search::Mapping& mapping) {
  const RunFolder files(options_.folder);
  write_file(files.mapping(), "mapping", mapping_text_(mapping));
  std::vector<std::string> flags = options_.flags;
  std::ranges::copy(files.flags(), std::back_inserter(flags));
  const Ending ending = run_guarded(
      {command_, environment_with(flags), files.output(), files.errors()}, options_.timeout);
  Run run;
  if (ending.is_late)
    run = {Outcome::timeout, 0, 0, 0,
           fmt::format("it took longer than {:g} s, and was ended", options_.timeout)};
  else if (ending.status == 0) run = succeeded(files, tasks_, options_.tasks_launch_others);
  else run = failed(ending.status, Errors(files));
  run.cost = ending.seconds;
  return run;
}

}  // namespace refrain::map
