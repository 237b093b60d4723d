#include "support/options.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace refrain::bench {

namespace {

bool judges = true;  ///< written before there are threads

[[noreturn]] void refuse(const std::string& text) {
  std::fprintf(stderr, "%s (--help lists the flags)\n", text.c_str());
  std::exit(2);
}

[[noreturn]] void help(const std::string& about) {
  std::printf(
      "%s\n\n"
      "  --out FILE    write the records there as JSON\n"
      "  --reps N      repetitions\n"
      "  --half        half the repetitions, no verdicts\n"
      "  --quick       a fast, rough run\n"
      "  --all         also what only the figures need\n"
      "  --only A,B    only these systems\n"
      "  --peers DIR   where the peer programs are\n",
      about.c_str());
  std::exit(0);
}

/// The build puts benchmarks and peers into one folder.
std::string own_folder() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().string();
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

int positive(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || n < 1 || n > 1000000) {
    refuse(flag + " wants a positive number, not '" + text + "'");
  }
  return static_cast<int>(n);
}

}  // namespace

bool Options::wants(const std::string& system) const {
  return only.empty() || std::find(only.begin(), only.end(), system) != only.end();
}

const char* verdict(bool met) { return !judges ? "not judged" : met ? "met" : "missed"; }

Options parse_options(int argc, char** argv, const std::string& about, int reps, int quick_reps) {
  Options options;
  options.peers = own_folder();
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) refuse(flag + " wants a value");
      return argv[++i];
    };
    if (flag == "--help") help(about);
    else if (flag == "--out") options.out = value();
    else if (flag == "--reps") options.reps = positive(flag, value());
    else if (flag == "--half") judges = false;
    else if (flag == "--quick") options.quick = true;
    else if (flag == "--all") options.all = true;
    else if (flag == "--only") options.only = split(value());
    else if (flag == "--peers") options.peers = value();
    else refuse("unknown flag '" + flag + "'");
  }
  if (!judges) reps = std::min(reps, std::max(3, (reps + 1) / 2));
  if (options.reps == 0) options.reps = options.quick ? quick_reps : reps;
  return options;
}

}  // namespace refrain::bench
