#include "map_search/moves.hpp"

namespace refrain::map_search {

namespace {

void put_on(const Space& space, Mapping& mapping, std::uint32_t task, Kind processor,
            Random& random) {
  mapping.processor[task] = processor;
  for (const std::uint32_t argument : space.arguments_of(task))
    if (!space.addressable(processor, mapping.memory[argument]))
      mapping.memory[argument] = random.pick(space.processors[processor].memories);
}

}  // namespace

Mapping random_mapping(const Space& space, Random& random) {
  Mapping mapping = first_mapping(space);
  for (std::size_t i = 0; i < decisions(space); ++i) redraw(space, mapping, i, random);
  return mapping;
}

void redraw(const Space& space, Mapping& mapping, std::size_t decision, Random& random) {
  const std::size_t tasks = space.tasks.size();
  const auto task = static_cast<std::uint32_t>(decision % tasks);
  if (decision < tasks) {
    mapping.distribution[task] = static_cast<Kind>(random.below(space.distributions_of(task)));
  } else if (decision < 2 * tasks) {
    put_on(space, mapping, task, random.pick(space.tasks[task].variants), random);
  } else {
    const std::size_t argument = decision - 2 * tasks;
    const Kind processor = mapping.processor[space.arguments[argument].task];
    mapping.memory[argument] = random.pick(space.processors[processor].memories);
  }
}

void change_one(const Space& space, Mapping& mapping, Random& random) {
  const Mapping before = mapping;
  // Most decisions have an alternative; a space in which hardly any has one is small, and its end is found by counting.
  for (int tries = 0; tries < 100 && mapping == before; ++tries)
    redraw(space, mapping, random.below(decisions(space)), random);
}

void take_over(const Space& space, Mapping& mapping, std::size_t decision, const Mapping& from,
               Random& random) {
  const std::size_t tasks = space.tasks.size();
  if (decision < tasks) {
    mapping.distribution[decision] = from.distribution[decision];
  } else if (decision < 2 * tasks) {
    const auto task = static_cast<std::uint32_t>(decision - tasks);
    put_on(space, mapping, task, from.processor[task], random);
  } else {
    const std::size_t argument = decision - 2 * tasks;
    const Kind processor = mapping.processor[space.arguments[argument].task];
    if (space.addressable(processor, from.memory[argument]))
      mapping.memory[argument] = from.memory[argument];
  }
}

}  // namespace refrain::map_search
