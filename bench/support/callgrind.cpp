#include "support/callgrind.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define REFRAIN_BENCH_CALLGRIND 1
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define REFRAIN_BENCH_CALLGRIND 0
#endif

namespace refrain::bench {

namespace {

std::string temporary_path() {
  char path[] = "/tmp/refrain-callgrind-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return "";
  close(file);
  return path;
}

/// The sum over the parts of a callgrind output file: each thread dumped separately has its own.
std::optional<std::int64_t> total_of(const std::string& path) {
  std::ifstream file(path);
  std::optional<std::int64_t> total;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("totals:", 0) != 0) continue;
    std::int64_t part = 0;
    std::istringstream(line.substr(7)) >> part;
    total = total.value_or(0) + part;
  }
  return total;
}

int run_quietly(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace

Collect::Collect() { CALLGRIND_START_INSTRUMENTATION; }

Collect::~Collect() { CALLGRIND_STOP_INSTRUMENTATION; }

bool can_count_instructions() {
  return REFRAIN_BENCH_CALLGRIND != 0 && run_quietly({"valgrind", "--version"}) == 0;
}

std::optional<std::int64_t> count_instructions(const std::string& program,
                                               const std::vector<std::string>& arguments) {
  const std::string path = temporary_path();
  if (path.empty()) return std::nullopt;
  std::vector<std::string> command{"valgrind",
                                   "--tool=callgrind",
                                   "--quiet",
                                   "--instr-atstart=no",
                                   "--callgrind-out-file=" + path,
                                   program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const int code = run_quietly(command);
  const std::optional<std::int64_t> total = total_of(path);
  std::remove(path.c_str());
  return code == 0 ? total : std::nullopt;
}

}  // namespace refrain::bench
