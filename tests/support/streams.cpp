#include "support/streams.hpp"

#include <map>
#include <stdexcept>
#include <utility>

#include "support/random.hpp"

namespace refrain::test {

const std::vector<std::string> program_streams{"loop",     "insertions", "observed",
                                               "branches", "nested",     "alternating",
                                               "phases",   "drifting",   "long_loop"};
const std::vector<std::string> other_streams{"one_token",  "random_2",       "random_3",
                                             "random_100", "distinct",       "fibonacci",
                                             "thue_morse", "period_doubling"};
const std::vector<std::string> noisy_streams{"noisy_loop"};

namespace {

using Block = std::vector<std::uint64_t>;

/// What a program launches, until it is enough.
class Caller {
 public:
  Caller(std::size_t size, std::uint64_t seed) : random_(seed), size_(size) {}

  [[nodiscard]] bool more() const { return stream_.size() < size_; }
  Random& random() { return random_; }
  std::uint64_t other_call() { return random_.next(); }
  Block block(int length) {
    Block calls(static_cast<std::size_t>(length));
    for (std::uint64_t& call : calls) call = other_call();
    return calls;
  }
  std::vector<Block> blocks(int number, int shortest, int longest) {
    std::vector<Block> made;
    made.reserve(static_cast<std::size_t>(number));
    for (int i = 0; i < number; ++i) made.push_back(block(random_.between(shortest, longest)));
    return made;
  }

  void launch(const Block& calls) { stream_.insert(stream_.end(), calls.begin(), calls.end()); }
  void launch(std::uint64_t call) { stream_.push_back(call); }

  Stream take() {
    stream_.resize(size_);
    return std::move(stream_);
  }

 private:
  Random random_;
  std::size_t size_;
  Stream stream_;
};

void run_loop(Caller& program) {
  program.launch(program.block(30));
  const Block body = program.block(60);
  while (program.more()) program.launch(body);
}

void run_insertions(Caller& program, int length) {
  const Block body = program.block(length);
  const std::vector<Block> statistics = program.blocks(3, 3, 8);
  while (program.more()) {
    program.launch(body);
    if (program.random().percent(25)) program.launch(program.random().pick(statistics));
    if (program.random().percent(5)) program.launch(program.other_call());
  }
}

void run_observed(Caller& program) {
  const Block body = program.block(60);
  const std::vector<Block> statistics = program.blocks(5, 3, 8);
  while (program.more()) {
    program.launch(body);
    program.launch(program.random().pick(statistics));
  }
}

void run_branches(Caller& program) {
  const Block begin = program.block(20), first = program.block(5), middle = program.block(15),
              second = program.block(8), end = program.block(12);
  while (program.more()) {
    program.launch(begin);
    if (!program.random().percent(20)) program.launch(first);
    program.launch(middle);
    if (!program.random().percent(20)) program.launch(second);
    program.launch(end);
  }
}

void run_nested(Caller& program) {
  const Block outer = program.block(20), inner = program.block(12), check = program.block(4);
  while (program.more()) {
    program.launch(outer);
    for (int i = program.random().between(3, 9); i > 0; --i) program.launch(inner);
    if (program.random().percent(25)) program.launch(check);
  }
}

void run_alternating(Caller& program) {
  const std::vector<Block> versions = program.blocks(2, 30, 30);
  const Block check = program.block(4);
  for (std::size_t version = 0; program.more(); version = 1 - version) {
    program.launch(versions[version]);
    if (!program.random().percent(10)) continue;
    program.launch(check);
    version = 1 - version;
  }
}

void run_phases(Caller& program) {
  Block body = program.block(40);
  while (program.more()) {
    for (int i = program.random().between(15, 40); i > 0; --i) program.launch(body);
    for (std::uint64_t& call : body)
      if (program.random().percent(50)) call = program.other_call();
  }
}

void run_drifting(Caller& program) {
  Block body = program.block(60);
  while (program.more()) {
    program.launch(body);
    program.launch(body);
    body[static_cast<std::size_t>(program.random().below(60))] = program.other_call();
  }
}

void run_random(Caller& program, int letters) {
  while (program.more())
    program.launch(static_cast<std::uint64_t>(program.random().below(letters)));
}

void run_noisy_loop(Caller& program) {
  for (int call = 0; program.more(); call = (call + 1) % 37)
    program.launch(static_cast<std::uint64_t>(
        program.random().percent(2) ? 37 + program.random().below(5) : call));
}

/// The word that grows from a (0), each letter replaced by what it becomes again and again.
void run_morphism(Caller& program, const Block& of_a, const Block& of_b) {
  Block word{0};
  while (program.more()) {
    Block longer;
    for (const std::uint64_t letter : word) {
      const Block& becomes = letter == 0 ? of_a : of_b;
      longer.insert(longer.end(), becomes.begin(), becomes.end());
    }
    // The word begins with the one before.
    for (std::size_t i = word.size() == 1 ? 0 : word.size(); i < longer.size() && program.more();
         ++i)
      program.launch(longer[i]);
    word = std::move(longer);
  }
}

void run(const std::string& name, Caller& program) {
  using Run = void (*)(Caller&);
  static const std::map<std::string, Run> runs{
      {"loop", run_loop},
      {"insertions", [](Caller& p) { run_insertions(p, 60); }},
      {"observed", run_observed},
      {"branches", run_branches},
      {"nested", run_nested},
      {"alternating", run_alternating},
      {"phases", run_phases},
      {"drifting", run_drifting},
      {"long_loop", [](Caller& p) { run_insertions(p, 1000); }},
      {"one_token", [](Caller& p) { run_random(p, 1); }},
      {"random_2", [](Caller& p) { run_random(p, 2); }},
      {"random_3", [](Caller& p) { run_random(p, 3); }},
      {"random_100", [](Caller& p) { run_random(p, 100); }},
      {"noisy_loop", run_noisy_loop},
      {"distinct",
       [](Caller& p) {
         while (p.more()) p.launch(p.other_call());
       }},
      {"fibonacci",
       [](Caller& p) {
         run_morphism(p, {0, 1}, {0});
       }},
      {"thue_morse",
       [](Caller& p) {
         run_morphism(p, {0, 1}, {1, 0});
       }},
      {"period_doubling",
       [](Caller& p) {
         run_morphism(p, {0, 1}, {0, 0});
       }},
  };
  const auto found = runs.find(name);
  if (found == runs.end()) throw std::invalid_argument("no stream is called " + name);
  found->second(program);
}

}  // namespace

Stream make_stream(const std::string& name, std::size_t size, std::uint64_t seed) {
  Caller program(size, seed);
  run(name, program);
  return program.take();
}

}  // namespace refrain::test
