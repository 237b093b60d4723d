#include "preloaded_command.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "refrain/error.hpp"

namespace refrain::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraries[] = {"librefrain_oracle_mpi.so", "librefrain_oracle_gomp.so"};
constexpr int kNoSuchCommand = 127;  // a shell's exit status then

volatile pid_t running = 0;  // the command, for signals that are meant for it

std::string message_of(int error) { return std::generic_category().message(error); }

void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
void set_file(const char* name, const std::optional<std::string>& path) {
  if (path) set(name, fs::absolute(*path).string());
  else ::unsetenv(name);
}

int say_why_not(const std::string& command, int error) {
  fmt::print(stderr, "refrain: {}: {}\n", command, message_of(error));
  return error == ENOENT ? kNoSuchCommand : kNoSuchCommand - 1;
}

[[noreturn]] void become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  ::_exit(say_why_not(command[0], errno));
}

bool is_there(const std::string& path) {
  std::error_code unknown;
  return ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, unknown);
}

}  // namespace

std::string preload_libraries() {
  // They lie beside the program's folder, where they were built and where they are installed.
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  std::string found;
  for (const char* const library : kLibraries)
    for (const char* const place : {"lib", REFRAIN_LIBRARY_FOLDER}) {
      const fs::path path = folder / place / library;
      if (!fs::exists(path)) continue;
      found += (found.empty() ? "" : ":") + path.string();
      break;
    }
  if (found.empty())
    throw Error(fmt::format("there are no preload libraries in {} ({}, {})",
                            (folder / REFRAIN_LIBRARY_FOLDER).string(), kLibraries[0],
                            kLibraries[1]));
  // The loader takes both for the end of a name.
  if (folder.string().find_first_of(": ") != std::string::npos)
    throw Error("a library cannot be preloaded from " + folder.string() +
                ": the folder's name has a space or a colon");
  return found;
}

int status_if_not_found(const std::string& command) {
  if (command.find('/') != std::string::npos) {
    if (is_there(command)) return 0;
    return say_why_not(command, ::access(command.c_str(), X_OK) == 0 ? EACCES : errno);
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_there((folder.empty() ? "." : folder) + '/' + command)) return 0;
  return say_why_not(command, ENOENT);
}

int run_preloaded(const std::string& libraries, const std::vector<std::string>& command,
                  const OracleFiles& files) {
  std::string preload = libraries;
  if (const char* const others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0')
    preload += std::string(":") + others;

  std::fflush(nullptr);
  std::signal(SIGCHLD, SIG_DFL);  // if it were ignored, so would be the command's exit status
  const pid_t child = ::fork();
  if (child == -1) throw Error(fmt::format("no process for {}: {}", command[0], message_of(errno)));
  if (child == 0) {
    set("LD_PRELOAD", preload);
    set_file("REFRAIN_ORACLE_RECORD", files.record);
    set_file("REFRAIN_ORACLE_REFERENCE", files.reference);
    set_file("REFRAIN_ORACLE_LEDGER", files.ledger);
    become(command);
  }
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);
  running = child;
  for (const int signal : {SIGTERM, SIGHUP})
    std::signal(signal, [](int forwarded) { ::kill(running, forwarded); });
  int status = 0;
  while (::waitpid(child, &status, 0) == -1)
    if (errno != EINTR) throw Error(fmt::format("{}: {}", command[0], message_of(errno)));
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace refrain::tools
