#include "fuzz/isolation.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>

#if defined(__SANITIZE_THREAD__)
// The child leaves without the sanitizer's last word, so the first race has to end it.
extern "C" const char* __tsan_default_options() { return "halt_on_error=1"; }
#endif

namespace refrain::test {

namespace {

[[noreturn]] void be_the_child(Progress& progress, const std::function<std::string(Progress&)>& f) {
  std::string text;
  try {
    text = f(progress);
  } catch (const std::exception& error) { text = fmt::format("threw: {}", error.what()); }
  std::strncpy(progress.text, text.c_str(), sizeof progress.text - 1);
  std::_Exit(0);
}

std::string how_it_died(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("crashed: {}",
                       strsignal(WTERMSIG(status)));  // NOLINT(concurrency-mt-unsafe)
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("exited with status {}", WEXITSTATUS(status));
}

}  // namespace

Ending isolated(int seconds, const std::function<std::string(Progress&)>& f) {
  void* shared =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory for a child process");
  auto* progress = ::new (shared) Progress;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) be_the_child(*progress, f);

  using Clock = std::chrono::steady_clock;
  std::uint64_t beats = 0;
  auto since = Clock::now();
  Ending ending;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    // Acquire: partner of Progress::begin.
    const std::uint64_t now = progress->beats.load(std::memory_order_acquire);
    if (now != beats) {
      beats = now;
      since = Clock::now();
    } else if (Clock::now() - since > std::chrono::seconds(seconds)) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      ending.text = fmt::format("no end after {} seconds", seconds);
      break;
    }
  }
  ending.seed = progress->seed;
  ending.step = progress->step;
  if (ending.text.empty()) ending.text = progress->text;
  if (ending.text.empty()) ending.text = how_it_died(status);
  progress->~Progress();
  munmap(shared, sizeof(Progress));
  return ending;
}

}  // namespace refrain::test
