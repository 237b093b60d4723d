#include "oracle/program_runs.hpp"

#include <map>
#include <set>
#include <utility>

#include "support/random.hpp"

namespace refrain::bench {

using test::Random;

const std::vector<std::string> program_runs{"stencil",   "solver",   "sweeps",
                                            "multigrid", "branches", "particles"};

namespace {

/// Appends events. An event has the same number in all runs.
class Run {
 public:
  void operator()(const char* name, int which = 0) {
    static std::map<std::pair<std::string, int>, std::uint32_t> numbers;
    const auto number = static_cast<std::uint32_t>(numbers.size());
    events_.push_back(numbers.try_emplace({name, which}, number).first->second);
  }
  Events take() { return std::move(events_); }

 private:
  Events events_;
};

void exchange(Run& run, int neighbours) {
  for (int i = 0; i < neighbours; ++i) run("irecv", i);
  for (int i = 0; i < neighbours; ++i) run("isend", i);
  run("waitall");
}

void stencil(Run& run, int size, Random&) {
  for (int i = 0; i < 6; ++i) run("bcast", i);
  for (int step = 0; step < 100 * size; ++step) {
    exchange(run, 4);
    run("compute");
    if (step % 10 == 9) run("allreduce");
  }
  run("reduce");
  run("finalise");
}

void solver(Run& run, int size, Random&) {
  run("bcast");
  for (int step = 0; step < 15; ++step) {
    run("norm");
    for (int iteration = 0; iteration < 12 * size + 1; ++iteration) {
      exchange(run, 2);
      run("multiply");
      run("dot", 0);
      run("update");
      run("dot", 1);
    }
    run("correct");
    run("norm");
  }
  run("finalise");
}

void sweeps(Run& run, int size, Random&) {
  run("bcast");
  for (int step = 0; step < 20 * size; ++step) {
    for (int back = 0; back < 2; ++back) {
      for (int plane = 0; plane < 16 * size; ++plane) {
        run("recv", back);
        run("recv", 2 + back);
        run("solve");
        run("send", back);
        run("send", 2 + back);
      }
    }
    exchange(run, 4);
    run("rhs");
    if (step % 5 == 4) run("allreduce");
  }
  run("finalise");
}

void multigrid(Run& run, int size, Random&) {
  run("bcast");
  int levels = 4;
  for (int s = size; s > 1; s /= 2) ++levels;
  for (int cycle = 0; cycle < 20 * size; ++cycle) {
    for (int level = 0; level < levels; ++level) {
      exchange(run, 3);
      run("smooth", level);
      run("restrict", level);
    }
    run("coarse");
    for (int level = levels; level-- > 0;) {
      run("prolong", level);
      exchange(run, 3);
      run("smooth", level);
    }
    run("norm");
  }
  run("finalise");
}

void branches(Run& run, int size, Random& random) {
  for (int step = 0; step < 80 * size; ++step) {
    for (int i = 0; i < 8; ++i) run("first", i);
    if (random.percent(80))
      for (int i = 0; i < 5; ++i) run("second", i);
    for (int i = 0; i < 4; ++i) run("third", i);
    if (random.percent(20))
      for (int i = 0; i < 6; ++i) run("fourth", i);
  }
}

void particles(Run& run, int size, Random& random) {
  for (int step = 0; step < 40 * size; ++step) {
    run("begin");
    const int messages = random.below(12);
    for (int i = 0; i < messages; ++i) {
      run("test", random.below(4));
      if (random.percent(50)) run("send", random.below(4));
    }
    run("waitall");
    run("allreduce");
  }
}

}  // namespace

Events program_run(const std::string& name, int size, std::uint64_t seed) {
  static const std::map<std::string, void (*)(Run&, int, Random&)> programs{
      {"stencil", stencil},     {"solver", solver},     {"sweeps", sweeps},
      {"multigrid", multigrid}, {"branches", branches}, {"particles", particles}};
  Random random(seed);
  Run run;
  programs.at(name)(run, size, random);
  return run.take();
}

std::vector<Submitted> with_noise(const Events& run, Noise noise, int percent, std::uint64_t seed) {
  Random random(seed);
  const std::set<std::uint32_t> all(run.begin(), run.end());
  const Events events(all.begin(), all.end());
  std::vector<Submitted> submitted;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const bool hit = random.percent(percent);
    if (hit && noise == Noise::skipped) continue;
    if (hit && noise == Noise::swapped && i + 1 < run.size()) {
      submitted.push_back({run[i + 1], true});
      submitted.push_back({run[i], true});
      ++i;
      continue;
    }
    submitted.push_back({run[i], true});
    if (hit && noise == Noise::inserted)
      submitted.push_back(
          {random.percent(10) ? events.back() + 1'000'000 : random.pick(events), false});
  }
  return submitted;
}

}  // namespace refrain::bench
