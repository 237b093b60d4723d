#include "oracle/eight_streams.hpp"

#include <bit>
#include <map>

#include "support/random.hpp"

namespace refrain::bench {

const std::vector<std::string> eight_streams{"periodic",  "nested",   "noisy_loop", "thue_morse",
                                             "fibonacci", "random_5", "drifting",   "random"};

namespace {

using test::Random;

std::uint32_t below(Random& random, int end) {
  return static_cast<std::uint32_t>(random.below(end));
}

void periodic(Events& events, std::size_t size, Random&) {
  while (events.size() < size) events.push_back(events.size() % 8);
}

void nested(Events& events, std::size_t size, Random&) {
  while (events.size() < size) {
    events.push_back(0);
    for (int i = 0; i < 10; ++i) {
      events.push_back(1);
      for (int j = 0; j < 20; ++j) events.insert(events.end(), {2, 3});
      events.push_back(4);
    }
    events.push_back(5);
  }
}

void noisy_loop(Events& events, std::size_t size, Random& random) {
  while (events.size() < size) {
    events.push_back(0);
    for (int i = random.between(3, 5); i > 0; --i) events.insert(events.end(), {1, 2});
    if (random.percent(10)) events.push_back(6);
    events.push_back(3);
  }
}

void thue_morse(Events& events, std::size_t size, Random&) {
  while (events.size() < size) events.push_back(std::popcount(events.size()) % 2);
}

void fibonacci(Events& events, std::size_t size, Random&) {
  Events before{1};
  events = {0};
  while (events.size() < size) {
    const Events shorter = events;
    events.insert(events.end(), before.begin(), before.end());
    before = shorter;
  }
}

void random_5(Events& events, std::size_t size, Random& random) {
  while (events.size() < size)
    events.push_back(random.percent(5) ? below(random, 24) : events.size() % 24);
}

void drifting(Events& events, std::size_t size, Random& random) {
  Random of_the_program(1);
  Events loop(32);
  for (std::uint32_t& event : loop) event = below(of_the_program, 40);
  while (events.size() < size) {
    for (int round = 0; round < 20; ++round) events.insert(events.end(), loop.begin(), loop.end());
    loop[below(random, 32)] = below(random, 40);
  }
}

void at_random(Events& events, std::size_t size, Random& random) {
  while (events.size() < size) events.push_back(below(random, 16));
}

}  // namespace

Events eight_stream(const std::string& name, std::size_t size, std::uint64_t seed) {
  static const std::map<std::string, void (*)(Events&, std::size_t, Random&)> streams{
      {"periodic", periodic},     {"nested", nested},       {"noisy_loop", noisy_loop},
      {"thue_morse", thue_morse}, {"fibonacci", fibonacci}, {"random_5", random_5},
      {"drifting", drifting},     {"random", at_random}};
  Random random(seed);
  Events events;
  streams.at(name)(events, size, random);
  events.resize(size);
  return events;
}

}  // namespace refrain::bench
