#include "map/guarded_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::map {
namespace {

constexpr int kGraceMilliseconds = 1000;  ///< between SIGTERM and SIGKILL

[[noreturn]] void fail_to_start(const Command& command, int error) {
  throw Error("the program '" + command.words[0] +
              "' cannot be started: " + std::generic_category().message(error));
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) == -1)
    if (errno != EINTR)
      throw Error("the end of a process cannot be waited for: " +
                  std::generic_category().message(errno));
  return status;
}

/// poll's time: milliseconds, or -1. A limit that an int cannot hold, of weeks, is none.
int milliseconds(double limit) {
  const double rounded = std::ceil(limit * 1000);
  return limit > 0 && rounded < std::numeric_limits<int>::max() ? static_cast<int>(rounded) : -1;
}

/// The guard's process. Between fork() and its end there are only calls that a signal handler may make, since other
/// threads may have held locks.
[[noreturn]] void guard(int parent, int limit) {
  ::setpgid(0, 0);
  ::signal(SIGTERM, SIG_IGN);
  pollfd end{parent, 0, 0};  // POLLHUP: nobody is there who could write
  while (::poll(&end, 1, limit) == -1 && errno == EINTR) {}
  ::kill(0, SIGTERM);
  ::poll(nullptr, 0, kGraceMilliseconds);
  ::kill(0, SIGKILL);
  ::_exit(1);
}

/// The guard, and the group that it leads, from here to the end of the scope.
class Guarded {
 public:
  Guarded(const Command& command, int limit) {
    if (::pipe2(pipe_, O_CLOEXEC) != 0) fail_to_start(command, errno);
    group_ = ::fork();
    const int error = errno;
    if (group_ == 0) {
      // What other calls have open, and the program's files, are not to stay open with the guard.
      const auto end = static_cast<unsigned>(pipe_[0]);
      if (end > 3) ::close_range(3, end - 1, 0);
      ::close_range(end + 1, ~0U, 0);
      guard(pipe_[0], limit);
    }
    ::close(pipe_[0]);
    if (group_ == -1) {
      ::close(pipe_[1]);
      fail_to_start(command, error);
    }
    ::setpgid(group_, group_);  // whoever comes first
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    ::kill(-group_, SIGKILL);
    while (::waitpid(group_, nullptr, 0) == -1 && errno == EINTR) {}
    ::close(pipe_[1]);
  }
  [[nodiscard]] pid_t group() const { return group_; }

 private:
  int pipe_[2];
  pid_t group_;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

/// What posix_spawn is told; its errors come from the calls that take memory.
struct Spawning {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  Spawning(const Command& command, pid_t group) {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    constexpr int writing = O_WRONLY | O_CREAT | O_TRUNC;
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, command.output.c_str(), writing,
                                       0666);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, command.errors.c_str(), writing,
                                       0666);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, group);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;
  ~Spawning() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
  }
};

}  // namespace

std::vector<std::string> environment_with(const std::vector<std::string>& flags) {
  constexpr std::string_view variable = "REFRAIN_ARGS=";
  std::string arguments(variable);
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry = *each;
    if (entry.starts_with(variable)) arguments = entry;
    else all.emplace_back(entry);
  }
  for (const std::string& flag : flags) {
    arguments += ' ';
    for (const char c : flag) {  // a backslash takes the next character as it is
      if (std::string_view(" \t\n'\"\\").find(c) != std::string_view::npos) arguments += '\\';
      arguments += c;
    }
  }
  all.push_back(std::move(arguments));
  return all;
}

Ending run_guarded(const Command& command, double limit) {
  const std::uint64_t begin = profile::now_ns();
  const Guarded guarded(command, milliseconds(limit));
  const Spawning spawning(command, guarded.group());
  pid_t program = -1;
  const int error =
      ::posix_spawnp(&program, command.words[0].c_str(), &spawning.files, &spawning.attributes,
                     pointers(command.words).data(), pointers(command.environment).data());
  if (error != 0) fail_to_start(command, error);
  Ending ending;
  ending.status = wait_for(program);
  ending.seconds = static_cast<double>(profile::now_ns() - begin) * 1e-9;
  ending.is_late = limit > 0 && ending.seconds >= limit;
  return ending;
}

}  // namespace refrain::map
