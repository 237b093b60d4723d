// `refrain oracle record|run|show|check`: records what a command's processes do, predicts it, and looks at files.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "command.hpp"
#include "oracle/error.hpp"
#include "oracle/ledger.hpp"
#include "oracle/run_reader.hpp"
#include "oracle/run_writer.hpp"
#include "oracle_report.hpp"
#include "preloaded_command.hpp"
#include "refrain/error.hpp"

namespace refrain::tools {
namespace {

namespace fs = std::filesystem;

struct Request {
  std::string file, output;
  std::vector<std::string> command;
};

/// An empty file that is gone in the end.
class TemporaryFile {
 public:
  TemporaryFile() : path_(fs::temp_directory_path() / "refrain-oracle-XXXXXX") {
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

/// What the run is of.
std::string command_line(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// What is wrong with a file is an error of the command.
template <class Function>
auto with_files(const Function& function) {
  try {
    return function();
  } catch (const oracle::OracleError& error) { throw Error(error.what()); }
}

void create(const Request& request) {
  oracle::create_run(request.output, command_line(request.command));
}

/// On stderr: stdout is the command's.
void print_recorded(const std::string& path) {
  const oracle::RunRecord run = oracle::read_run(path);
  fmt::print(stderr, "refrain oracle: {} in {}, {} bytes\n", run_summary(run), path,
             fs::file_size(path));
  if (run.threads.empty())
    fmt::print(stderr, "refrain oracle: does the command use MPI, or GNU OpenMP?\n");
}

int record(const Request& request) {
  return with_files([&] {
    const std::string libraries = preload_libraries();
    const TemporaryFile ledger;
    create(request);
    const int status =
        run_preloaded(libraries, request.command, {request.output, {}, ledger.path()});
    print_recorded(request.output);
    return status;
  });
}

int run(const Request& request) {
  return with_files([&] {
    const std::string libraries = preload_libraries();
    const TemporaryFile ledger;
    static_cast<void>(oracle::read_run(request.file));  // what is wrong with it is said before
    OracleFiles files{{}, request.file, ledger.path()};
    if (!request.output.empty()) {
      std::error_code none_there;
      if (fs::equivalent(request.file, request.output, none_there))
        throw Error(request.output + ": is the file of the earlier run, which is needed");
      create(request);
      files.record = request.output;
    }
    const int status = run_preloaded(libraries, request.command, files);
    fmt::print(stderr, "{}", accuracy_report(oracle::read_ledger(ledger.path())));
    if (files.record) print_recorded(request.output);
    return status;
  });
}

void show(const Request& request) {
  with_files([&] {
    const oracle::RunRecord run = oracle::read_run(request.file);
    fmt::print("{}\n{}\n\n{}", run.program, run_summary(run), run_grammars(run));
  });
}

void check(const Request& request) {
  with_files([&] {
    const oracle::RunRecord run = oracle::read_run(request.file);
    fmt::print("{}: sound: {}\n", request.file, run_summary(run));
    if (run.torn > 0)
      fmt::print("{} bytes at its end are of a record that was not finished\n", run.torn);
  });
}

}  // namespace

void add_oracle_command(CLI::App& tool) {
  CLI::App* oracle = tool.add_subcommand(
      "oracle", "Record what programs of MPI and OpenMP do, and predict it (docs/oracle.md)");
  oracle->require_subcommand(1);
  auto request = std::make_shared<Request>();
  const auto add_command = [&](CLI::App* to) {
    to->add_option("command", request->command, "The command and its arguments, behind --")
        ->required();
  };

  CLI::App* recorded = oracle->add_subcommand("record", "Run a command and record what it does");
  recorded->add_option("-o,--output", request->output, "The file to make")->required();
  add_command(recorded);
  recorded->callback([request] { std::exit(record(*request)); });

  CLI::App* ran = oracle->add_subcommand(
      "run",
      "Run a command beside an earlier run: choose threads by what is predicted, and say "
      "how much was right");
  ran->add_option("file", request->file, "The file of the earlier run")->required();
  ran->add_option("-o,--output", request->output, "Record this run, too, in this file");
  add_command(ran);
  ran->callback([request] { std::exit(run(*request)); });

  CLI::App* shown = oracle->add_subcommand("show", "Print the grammars in a file");
  shown->add_option("file", request->file, "The file of a run")->required();
  shown->callback([request] { show(*request); });

  CLI::App* checked = oracle->add_subcommand("check", "Say whether a file is sound");
  checked->add_option("file", request->file, "The file of a run")->required();
  checked->callback([request] { check(*request); });
}

}  // namespace refrain::tools
