// `refrain oracle record|run|show|check`: records what a command's processes do, predicts it, and looks at files.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "command.hpp"
#include "oracle/error.hpp"
#include "oracle/ledger.hpp"
#include "oracle/run_format.hpp"
#include "oracle/run_reader.hpp"
#include "oracle/run_writer.hpp"
#include "oracle_json.hpp"
#include "oracle_report.hpp"
#include "preloaded_command.hpp"
#include "refrain/error.hpp"
#include "refrain/oracle.hpp"

namespace refrain::tools {
namespace {

namespace fs = std::filesystem;

struct OracleRequest {
  std::string file, output;
  bool json = false, times = false, notes = false;  // what is shown
  std::vector<std::string> command;
};

/// An empty file that is gone in the end.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::error_code no_such_folder;
    const fs::path folder = fs::temp_directory_path(no_such_folder);
    path_ = (no_such_folder ? "/tmp" : folder) / "refrain-oracle-XXXXXX";
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor == -1) throw Error("no temporary file can be made as " + path_);
    ::close(descriptor);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What the run is of, as far as there is room for it.
std::string command_line(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
  return line.substr(0, oracle::kLargestProgram);
}

/// What is wrong with a file is an error of the command.
template <class Function>
auto with_files(const Function& function) {
  try {
    return function();
  } catch (const oracle::OracleError& error) {
    throw Error(error.what());
  } catch (const OracleFailure& failure) {
    throw Error(failure.what());
  } catch (const std::bad_alloc&) { throw Error("there is not enough memory for the file"); }
}

void create(const OracleRequest& request) {
  oracle::create_run(request.output, command_line(request.command));
}

/// On stderr, if it can be written: stdout is the command's.
void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

/// The command has ended, and its exit status stands, whatever there is to say of its run.
template <class Function>
void afterwards(const Function& function) {
  try {
    function();
  } catch (const std::exception& error) { say(fmt::format("refrain: {}\n", error.what())); }
}

/// The record that a new one is to replace, kept until there is something in that: a command that was mistyped, or does
/// nothing that is recorded, destroys none.
class OlderRecord {
 public:
  explicit OlderRecord(const std::string& path) {
    try {
      if (!fs::exists(path) || oracle::read_run(path).threads.empty()) return;
      path_ = fs::canonical(path);
      kept_ = path_ + ".before-" + std::to_string(::getpid());
      fs::create_hard_link(path_, kept_);
    } catch (const std::exception&) { kept_.clear(); }  // it is none, or cannot be kept
  }
  ~OlderRecord() {
    if (!kept_.empty()) ::unlink(kept_.c_str());
  }
  OlderRecord(const OlderRecord&) = delete;
  OlderRecord& operator=(const OlderRecord&) = delete;

  /// In the place of the new one. False: there was none.
  bool restore() { return !kept_.empty() && std::rename(kept_.c_str(), path_.c_str()) == 0; }

 private:
  std::string path_, kept_;
};

void say_what_is_recorded(const std::string& path, OlderRecord& older) {
  const oracle::RunRecord run = oracle::read_run(path);
  if (run.threads.empty() && older.restore()) {
    say(fmt::format("refrain oracle: nothing was recorded, so {} is still the earlier run\n",
                    path));
    return;
  }
  say(fmt::format("refrain oracle: {} in {}, {} bytes\n", run_summary(run), path,
                  fs::file_size(path)));
  if (run.threads.empty())
    say("refrain oracle: either the command uses neither MPI nor GNU OpenMP, or not as shared "
        "libraries, or it was ended by a signal or by _exit() soon after it began\n");
}

int record(const OracleRequest& request) {
  return with_files([&] {
    const std::string libraries = preload_libraries();
    const TemporaryFile ledger;
    if (const int status = status_if_not_found(request.command[0])) return status;
    OlderRecord older(request.output);
    create(request);
    const int status =
        run_preloaded(libraries, request.command, {request.output, {}, ledger.path()});
    afterwards([&] { say_what_is_recorded(request.output, older); });
    return status;
  });
}

int run(const OracleRequest& request) {
  return with_files([&] {
    const std::string libraries = preload_libraries();
    const TemporaryFile ledger;
    if (const int status = status_if_not_found(request.command[0])) return status;
    const oracle::RunRecord reference = oracle::read_run(request.file);
    say(reference_fault(reference, request.file));
    OracleFiles files{{}, request.file, ledger.path()};
    OlderRecord older(request.output);
    if (!request.output.empty()) {
      std::error_code none_there;
      if (fs::equivalent(request.file, request.output, none_there))
        throw Error(request.output + ": is the file of the earlier run, which is needed");
      create(request);
      files.record = request.output;
    }
    const int status = run_preloaded(libraries, request.command, files);
    afterwards([&] {
      say(fmt::format("beside: {}\n", escaped(reference.program)));
      say(accuracy_report(oracle::read_ledger(ledger.path())));
    });
    if (files.record) afterwards([&] { say_what_is_recorded(request.output, older); });
    return status;
  });
}

void show(const OracleRequest& request) {
  with_files([&] {
    if (request.json) {
      fmt::print("{}", run_json(OracleRun(request.file)));
      return;
    }
    const oracle::RunRecord run = oracle::read_run(request.file);
    fmt::print("{}\n{}\n\n{}{}", escaped(run.program), run_summary(run),
               run_grammars(run, request.times), request.notes ? run_notes(run) : "");
  });
}

void check(const OracleRequest& request) {
  with_files([&] {
    const oracle::RunRecord run = oracle::read_run(request.file);
    fmt::print("{}: sound: {}\n", request.file, run_summary(run));
    if (run.torn > 0)
      fmt::print("{} bytes at its end are of a record that was not finished\n", run.torn);
  });
}

constexpr const char* kCommand = "-- COMMAND [ARGUMENT]...";

/// Of a subcommand that runs another program.
class UsageWithCommand : public CLI::Formatter {
  [[nodiscard]] std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    usage.erase(usage.find_last_not_of('\n') + 1);
    return usage + ' ' + kCommand + '\n';
  }
};

void check_command(const CLI::App& subcommand, const std::vector<std::string>& command) {
  const std::string name = "oracle " + subcommand.get_name();
  const std::vector<std::string> extras = subcommand.remaining();
  if (!extras.empty())
    throw CLI::ExtrasError(fmt::format("{}: '{}' is not understood; the command goes behind --: "
                                       "refrain {} ... {}",
                                       name, extras.front(), name, kCommand),
                           CLI::ExitCodes::ExtrasError);
  if (command.empty())
    throw CLI::RequiredError(
        fmt::format("{}: a command is needed, behind --: refrain {} ... {}", name, name, kCommand),
        CLI::ExitCodes::RequiredError);
}

}  // namespace

void add_oracle_command(CLI::App& tool, const std::vector<std::string>& command) {
  CLI::App* oracle = tool.add_subcommand(
      "oracle", "Record what programs of MPI and OpenMP do, and predict it (docs/oracle.md)");
  oracle->require_subcommand(1);
  auto request = std::make_shared<OracleRequest>();
  request->command = command;
  const auto runs_a_command = [request](CLI::App* subcommand, auto action) {
    subcommand->formatter(std::make_shared<UsageWithCommand>());
    subcommand->allow_extras();  // for a hint where the command goes
    subcommand->callback([request, subcommand, action] {
      check_command(*subcommand, request->command);
      std::exit(action(*request));
    });
  };

  CLI::App* recorded = oracle->add_subcommand("record", "Run a command and record what it does");
  recorded->add_option("-o,--output", request->output, "The file to make")->required();
  runs_a_command(recorded, record);

  CLI::App* ran = oracle->add_subcommand(
      "run",
      "Run a command beside an earlier run: choose threads by what is predicted, and say "
      "how much was right");
  ran->add_option("file", request->file, "The file of the earlier run")->required();
  ran->add_option("-o,--output", request->output, "Record this run, too, in this file");
  runs_a_command(ran, run);

  CLI::App* shown = oracle->add_subcommand("show", "Print the grammars in a file");
  shown->add_option("file", request->file, "The file of a run")->required();
  shown->add_flag("--times", request->times,
                  "behind each symbol its mean time, if times were recorded");
  shown->add_flag("--notes", request->notes, "and the notes of each thread");
  shown->add_flag("--json", request->json, "all there is, times and notes as well, as JSON")
      ->excludes("--times", "--notes");
  shown->callback([request] { show(*request); });

  CLI::App* checked = oracle->add_subcommand("check", "Say whether a file is sound");
  checked->add_option("file", request->file, "The file of a run")->required();
  checked->callback([request] { check(*request); });
}

}  // namespace refrain::tools
