// A program with two tasks that ends as its first argument says. The second one is a file, for the number of a process.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "refrain/refrain.hpp"

using namespace refrain;

namespace {

constexpr Field<double> heat{"heat"}, next{"next"};

struct Relax {
  void operator()(Write<double> to, Read<double> from) const {
    for (auto p : to.domain()) to[p] = from[p] + 1;
  }
};
const Task relax{"relax", on<ProcessorKind::cpu>(Relax{}), on<ProcessorKind::gpu>(Relax{})};
const Task look{"look", on<ProcessorKind::cpu>([](Read<double>) {})};
const Task other{"other", on<ProcessorKind::cpu>([](Read<double>) {})};

[[noreturn]] void hang() {
  for (;;) ::pause();
}

/// What the file says is complete when it is there.
void write_number(const std::string& path) {
  std::FILE* const file = std::fopen((path + ".new").c_str(), "w");
  if (file == nullptr) std::exit(9);
  std::fprintf(file, "%d\n", static_cast<int>(::getpid()));
  std::fclose(file);
  std::rename((path + ".new").c_str(), path.c_str());
}

void compute(Context& ctx, const std::string& mood) {
  auto cells = ctx.region(Rect1{0, 39'999}, heat, next);
  auto parts = ctx.blocks(cells, 4);
  ctx.launch(relax, 4, parts[next], parts[heat]);
  if (mood != "fewer") ctx.launch(look, cells[next]);
  if (mood == "more") ctx.launch(other, cells[next]);
  ctx.fence();
  if (mood == "signal") std::raise(SIGKILL);
  if (mood == "hang") hang();
}

int run_caught(int argc, char** argv) {
  try {
    Runtime runtime(parse_options(argc, argv));
    runtime.run([](Context& ctx) { compute(ctx, "caught"); });
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "moods: %s\n", error.what());
    return 4;
  }
}

int run_uncaught(int argc, char** argv) {
  Runtime runtime(parse_options(argc, argv));
  runtime.run([](Context& ctx) { compute(ctx, "uncaught"); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mood = argc > 1 ? argv[1] : "";
  const std::string file = argc > 2 ? argv[2] : "";
  if (mood == "nothing") return std::getchar() == EOF ? 0 : 1;
  if (mood == "no runtime") {
    std::fprintf(stderr, "moods: the input is wrong\n\n");
    return 3;
  }
  if (mood == "child" && ::fork() == 0) {
    std::signal(SIGTERM, SIG_IGN);
    write_number(file);
    hang();
  }
  if (mood == "child")
    while (::access(file.c_str(), F_OK) != 0) ::usleep(1000);
  if (mood == "stubborn") {
    std::signal(SIGTERM, SIG_IGN);
    write_number(file);
    hang();
  }
  if (mood == "caught") return run_caught(argc, argv);
  if (mood == "uncaught") return run_uncaught(argc, argv);
  return run(argc, argv, [&](Context& ctx) { compute(ctx, mood); });
}
