#include "oracle/program_events.hpp"

#include <unordered_map>

#include "support/random.hpp"
#include "support/streams.hpp"

namespace refrain::bench {

namespace {

using test::Random;

/// Raises events until it is enough; each block of code has events of its own.
class Program {
 public:
  explicit Program(std::size_t size) : size_(size) {}

  [[nodiscard]] bool more() const { return events_.size() < size_; }
  Events block(std::uint32_t length) {
    Events events(length);
    for (std::uint32_t& event : events) event = next_++;
    return events;
  }
  void run(const Events& block) { events_.insert(events_.end(), block.begin(), block.end()); }
  Events take() {
    events_.resize(size_);
    return std::move(events_);
  }
  Random random{1};

 private:
  std::size_t size_;
  std::uint32_t next_ = 0;
  Events events_;
};

void run_regular(Program& program) {
  const Events iteration = regular_iteration();
  while (program.more()) program.run(iteration);
}

void run_short(Program& program) {
  const Events outer = program.block(5), middle = program.block(5), inner = program.block(5);
  while (program.more()) {
    program.run(outer);
    for (int i = program.random.between(2, 6); i > 0; --i) {
      program.run(middle);
      for (int j = program.random.between(2, 6); j > 0; --j) program.run(inner);
    }
  }
}

void run_wide(Program& program) {
  std::vector<Events> parts;
  for (int i = 0; i < 10; ++i) parts.push_back(program.block(50));
  while (program.more())
    for (const Events& part : parts)
      if (!program.random.percent(5)) program.run(part);
}

struct Level {
  Events before, after;
};
void run_level(Program& program, const std::vector<Level>& levels, std::size_t level) {
  if (level == levels.size()) return;
  for (int i = program.random.between(3, 7); i > 0; --i) {
    program.run(levels[level].before);
    run_level(program, levels, level + 1);
    program.run(levels[level].after);
  }
}
void run_levels(Program& program) {
  std::vector<Level> levels;
  for (const std::uint32_t length : {15, 6, 12, 8})
    levels.push_back({program.block(length), program.block(length / 2)});
  while (program.more()) run_level(program, levels, 0);
}

struct Own {
  const char* name;
  void (*run)(Program&);
};
constexpr Own own[]{
    {"regular", run_regular}, {"short", run_short}, {"wide", run_wide}, {"levels", run_levels}};

Events numbered(const test::Stream& stream) {
  std::unordered_map<std::uint64_t, std::uint32_t> number;
  Events events;
  events.reserve(stream.size());
  for (const std::uint64_t token : stream)
    events.push_back(
        number.emplace(token, static_cast<std::uint32_t>(number.size())).first->second);
  return events;
}

}  // namespace

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const Own& program : own) names.emplace_back(program.name);
  names.insert(names.end(), test::program_streams.begin(), test::program_streams.end());
  return names;
}

bool keeps_changing(const std::string& name) { return name == "phases" || name == "drifting"; }

Events program_events(const std::string& name, std::size_t size) {
  for (const Own& program : own) {
    if (name != program.name) continue;
    Program run(size);
    program.run(run);
    return run.take();
  }
  return numbered(test::make_stream(name, size, 1));
}

Events regular_iteration() {
  Program program(0);
  const Events step = program.block(12), first = program.block(8), second = program.block(25),
               check = program.block(4);
  Events iteration;
  const auto run = [&](const Events& block, int times) {
    for (; times > 0; --times) iteration.insert(iteration.end(), block.begin(), block.end());
  };
  for (int i = 0; i < 20; ++i) {
    run(step, 1);
    run(first, 10);
    run(second, 4);
  }
  run(check, 1);
  return iteration;
}

}  // namespace refrain::bench
