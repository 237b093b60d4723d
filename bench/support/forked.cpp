#include "support/forked.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

namespace refrain::bench {

std::vector<double> forked(const std::function<std::vector<double>()>& measure) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("forked: no pipe");
  std::fflush(nullptr);  // or the child would write it once more
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("forked: no process");
  if (child == 0) {
    try {
      const std::vector<double> results = measure();
      const auto bytes = static_cast<ssize_t>(results.size() * sizeof(double));
      std::_Exit(write(ends[1], results.data(), static_cast<std::size_t>(bytes)) == bytes ? 0 : 1);
    } catch (const std::exception& error) { std::fprintf(stderr, "%s\n", error.what()); }
    std::_Exit(1);
  }
  close(ends[1]);
  std::vector<double> results;
  for (double result = 0; read(ends[0], &result, sizeof result) == sizeof result;)
    results.push_back(result);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("forked: a measurement failed");
  return results;
}

}  // namespace refrain::bench
