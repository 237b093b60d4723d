#include "random_events.hpp"

#include <algorithm>
#include <bit>

namespace refrain::oracle {

namespace {

using test::Random;

std::uint32_t letter(Random& random, int letters) {
  return static_cast<std::uint32_t>(random.below(letters));
}

void append(Events& events, const Events& more) {
  events.insert(events.end(), more.begin(), more.end());
}

Events letters_of(Random& random, std::size_t size, int letters) {
  Events events(size);
  std::ranges::generate(events, [&] { return letter(random, letters); });
  return events;
}

Events periodic(Random& random, std::size_t size, int letters) {
  const auto period = static_cast<std::size_t>(random.between(1, 20));
  const int noise = random.between(0, 15);
  Events events = letters_of(random, size, letters);
  for (std::size_t i = period; i < size; ++i)
    if (!random.percent(noise)) events[i] = events[i - period];
  return events;
}

/// A loop whose body is events, other loops, and what is done at times.
struct Loop {
  int least, most;
  std::vector<Loop> inner;
  Events body;
  int chance = 100;  ///< in percent, for the body
};

Loop random_loop(Random& random, int letters, int depth) {
  Loop loop{random.between(1, 3), 3, {}, {}};
  if (random.percent(50)) loop.most = loop.least + random.between(0, 4);
  loop.most = std::max(loop.most, loop.least);
  loop.body = letters_of(random, static_cast<std::size_t>(random.between(0, 4)), letters);
  if (random.percent(30)) loop.chance = random.between(50, 100);
  if (depth > 0)
    for (int i = random.between(1, 3); i > 0; --i)
      loop.inner.push_back(random_loop(random, letters, depth - 1));
  return loop;
}

void run(Random& random, const Loop& loop, Events& events) {
  for (int i = random.between(loop.least, loop.most); i > 0; --i) {
    if (random.percent(loop.chance)) append(events, loop.body);
    for (const Loop& inner : loop.inner) run(random, inner, events);
  }
}

Events loops(Random& random, std::size_t size, int letters) {
  const Loop program = random_loop(random, letters, random.between(1, 3));
  Events events;
  while (events.size() < size) {
    run(random, program, events);
    events.push_back(letter(random, letters));
  }
  return events;
}

Events words(Random& random, std::size_t size, int letters) {
  std::vector<Events> known;
  for (int i = 0; i < letters; ++i) known.push_back({static_cast<std::uint32_t>(i)});
  const auto add_word = [&](Events& to) {
    const Events word = random.pick(known);
    for (int i = random.percent(30) ? random.between(1, 5) : 1; i > 0; --i) append(to, word);
  };
  for (int i = random.between(1, 10); i > 0; --i) {
    Events word;
    for (int parts = random.between(2, 4); parts > 0 && word.size() < 60; --parts) add_word(word);
    known.push_back(word);
  }
  Events events;
  while (events.size() < size) add_word(events);
  return events;
}

Events fibonacci(std::size_t size) {
  Events before{1}, word{0};
  while (word.size() < size) {
    const Events shorter = word;
    append(word, before);
    before = shorter;
  }
  return word;
}

Events thue_morse(std::size_t size) {
  Events word(size);
  for (std::size_t i = 0; i < size; ++i) word[i] = static_cast<std::uint32_t>(std::popcount(i) % 2);
  return word;
}

}  // namespace

Events random_events(Random& random) {
  const auto size = static_cast<std::size_t>(random.between(1, 400));
  const int letters = random.between(1, 8);
  Events events;
  switch (random.below(6)) {
    case 0: events = letters_of(random, size, letters); break;
    case 1: events = periodic(random, size, letters); break;
    case 2: events = loops(random, size, letters); break;
    case 3: events = words(random, size, letters); break;
    case 4: events = fibonacci(size); break;
    default: events = thue_morse(size); break;
  }
  events.resize(size);
  const int noise = random.percent(50) ? 0 : random.between(1, 3);
  for (std::uint32_t& event : events)
    if (random.percent(noise)) event = letter(random, letters);
  return events;
}

}  // namespace refrain::oracle
