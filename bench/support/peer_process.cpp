#include "support/peer_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "support/clock.hpp"

namespace refrain::bench {

namespace {

/// The environment without what would change a rival's defaults.
std::vector<char*> plain_environment() {
  std::vector<char*> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool tunes = false;
    for (const char* prefix : {"OMP_", "GOMP_", "KMP_", "STARPU_", "TBB_"}) {
      tunes = tunes || std::strncmp(*entry, prefix, std::strlen(prefix)) == 0;
    }
    if (!tunes) kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

}  // namespace

Peer::Peer(const std::string& path, const std::vector<std::string>& arguments, int patience_s)
    : patience_s_(patience_s) {
  if (access(path.c_str(), X_OK) != 0) throw Lost("not built");
  launch(path, arguments);
  try {
    if (const std::string first = answer(); first != "ready") throw Lost(first);
  } catch (const Lost&) {
    kill_now();
    throw;
  }
  signal(SIGSTOP);
}

Peer::~Peer() {
  if (pid_ < 0) return;
  close(std::exchange(to_, -1));  // end of input: the peer ends itself
  signal(SIGCONT);
  for (int i = 0; i < 200; ++i) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      close(from_);
      return;
    }
    usleep(10000);
  }
  kill_now();
}

void Peer::launch(const std::string& path, const std::vector<std::string>& arguments) {
  int request[2];
  int reply[2];
  if (pipe2(request, O_CLOEXEC) != 0) throw Lost("no pipe");
  if (pipe2(reply, O_CLOEXEC) != 0) {
    close(request[0]);
    close(request[1]);
    throw Lost("no pipe");
  }
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> environment = plain_environment();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a stopped peer must not outlive an interrupted benchmark
    dup2(request[0], STDIN_FILENO);
    dup2(reply[1], STDOUT_FILENO);
    execve(path.c_str(), argv.data(), environment.data());
    _exit(127);
  }
  close(request[0]);
  close(reply[1]);
  to_ = request[1];
  from_ = reply[0];
  if (pid_ < 0) {
    close(to_);
    close(from_);
    throw Lost("cannot be started");
  }
}

double Peer::ask(const std::string& request) {
  if (pid_ < 0) throw Lost("is gone");
  signal(SIGCONT);
  const std::string line = request + "\n";
  std::string text;
  try {
    // A peer that died closed its end: the write fails (SIGPIPE is ignored) and answer() says so.
    ::signal(SIGPIPE, SIG_IGN);
    if (write(to_, line.data(), line.size()) < 0) throw Lost("died");
    text = answer();
  } catch (const Lost&) {
    kill_now();
    throw;
  }
  signal(SIGSTOP);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0') throw Lost(text);
  return number;
}

std::string Peer::answer() {
  const std::int64_t deadline = now_ns() + patience_s_ * std::int64_t{1'000'000'000};
  for (;;) {
    if (const std::size_t stop = buffered_.find('\n'); stop != std::string::npos) {
      std::string line = buffered_.substr(0, stop);
      buffered_.erase(0, stop + 1);
      return line;
    }
    const std::int64_t left = deadline - now_ns();
    pollfd wait{from_, POLLIN, 0};
    if (left <= 0 || poll(&wait, 1, static_cast<int>(left / 1'000'000) + 1) == 0) {
      throw Lost("gave no answer for " + std::to_string(patience_s_) + " s");
    }
    char piece[256];
    const ssize_t n = read(from_, piece, sizeof piece);
    if (n == 0) throw Lost("died");
    if (n > 0) buffered_.append(piece, static_cast<std::size_t>(n));
  }
}

void Peer::signal(int number) { kill(pid_, number); }

void Peer::kill_now() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  if (to_ >= 0) close(std::exchange(to_, -1));
  if (from_ >= 0) close(std::exchange(from_, -1));
}

}  // namespace refrain::bench
