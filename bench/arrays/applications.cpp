#include "applications.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace refrain::bench {

namespace {

std::string edge_of(std::int64_t elements) {
  return std::to_string(std::llround(std::sqrt(static_cast<double>(elements))));
}

std::vector<std::string> by_edge(std::int64_t elements) { return {"--n", edge_of(elements)}; }
std::vector<std::string> by_length(std::int64_t elements) {
  return {"--n", std::to_string(elements)};
}
// 32 features of each sample.
std::vector<std::string> by_samples(std::int64_t elements) {
  return {"--n", std::to_string(std::max<std::int64_t>(elements / 32, 1))};
}

/// What a command wrote, and its resources. Both outputs come together.
struct Finished {
  std::string output;
  int status = 0;
  rusage usage{};
};

Finished execute(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  close(ends[1]);
  Finished finished;
  std::array<char, 4096> bytes{};
  for (ssize_t got = 0; (got = read(ends[0], bytes.data(), bytes.size())) > 0;)
    finished.output.append(bytes.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  wait4(child, &finished.status, 0, &finished.usage);
  return finished;
}

/// The number before "iterations/s" in the line of the speed.
double speed_in(const std::string& output) {
  std::istringstream words(output);
  std::string before;
  for (std::string word; words >> word; before = word)
    if (word.rfind("iterations/s", 0) == 0) return std::stod(before);
  throw std::runtime_error("no speed in: " + output);
}

}  // namespace

const std::vector<Application>& applications() {
  static const std::vector<Application> all = {{"cfd", by_edge},
                                               {"shallow_water", by_edge},
                                               {"black_scholes", by_length},
                                               {"jacobi_arrays", by_edge},
                                               {"conjugate_gradient", by_edge},
                                               {"logistic_regression", by_samples}};
  return all;
}

Run run(const Application& application, const System& system, std::int64_t elements,
        std::int64_t iterations, std::int64_t warm_up, const std::string& programs) {
  const std::string name = application.name;
  std::vector<std::string> command;
  if (system.numpy) {
    command = {"/usr/bin/python3",
               std::string(REFRAIN_SOURCE_DIR) + "/apps/" + name + "/" + name + ".py"};
  } else {
    std::string program = name;
    std::replace(program.begin(), program.end(), '_', '-');
    command = {programs + "/" + program, "--no-check"};
  }
  for (const std::string& flag : application.flags(elements)) command.push_back(flag);
  command.insert(command.end(), {"--iterations", std::to_string(iterations), "--warm-up",
                                 std::to_string(warm_up)});
  command.insert(command.end(), system.flags.begin(), system.flags.end());
  const Finished finished = execute(command);
  if (finished.status != 0) {
    std::string line;
    for (const std::string& word : command) line += word + " ";
    throw std::runtime_error(line + "failed:\n" + finished.output);
  }
  return {speed_in(finished.output), static_cast<double>(finished.usage.ru_maxrss) * 1024};
}

}  // namespace refrain::bench
