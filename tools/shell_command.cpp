#include "shell_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "refrain/error.hpp"

namespace refrain::tools {

void run_for_capture(const std::vector<std::string>& command, const std::string& flags) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const char* const before = std::getenv("REFRAIN_ARGS");
  const std::string all = (before != nullptr ? std::string(before) + " " : "") + flags;
  const pid_t child = fork();
  if (child < 0)
    throw Error(fmt::format("{}: cannot be started: {}", command[0], std::strerror(errno)));
  if (child == 0) {
    setenv("REFRAIN_ARGS", all.c_str(), 1);
    if (const int nowhere = open("/dev/null", O_RDWR); nowhere >= 0) {
      dup2(nowhere, STDIN_FILENO);
      dup2(nowhere, STDOUT_FILENO);
    }
    execvp(words[0], words.data());
    std::_Exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw Error(fmt::format("{}: there is no such program, or it cannot be run", command[0]));
  throw Error(
      WIFSIGNALED(status)
          ? fmt::format("{} was ended by signal {}", command[0], strsignal(WTERMSIG(status)))
          : fmt::format("{} ended with status {}", command[0], WEXITSTATUS(status)));
}

}  // namespace refrain::tools
