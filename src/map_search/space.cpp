#include "map_search/space.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>
#include <type_traits>

namespace refrain::map_search {

namespace {

/// FNV-1a: the same in every program, so that fingerprints can be kept in files.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) add_byte(static_cast<unsigned char>(c));
    add_byte(0xff);  // ends a name: no character of UTF-8
  }
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) add_byte(static_cast<unsigned char>(number >> (8 * i)));
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }

  std::uint64_t value_ = 0xcbf29ce484222325u;
};

void require(bool holds, const std::string& place, const char* reason) {
  if (!holds) throw InvalidSpace("search space: " + place + " " + reason);
}

/// Ascending, different, and each of them below `bound`.
bool ascending_below(const std::vector<Kind>& kinds, std::size_t bound) {
  return std::ranges::adjacent_find(kinds, std::greater_equal{}) == kinds.end() &&
         (kinds.empty() || kinds.back() < bound);
}

std::string quoted(const std::string& name) { return '\'' + name + '\''; }

/// Mappings are written with these names between blanks.
template <class Named>
void check_names(const std::vector<Named>& all, const char* what) {
  std::vector<std::string_view> names;
  for (const Named& one : all) {
    const std::string& name = [&]() -> const std::string& {
      if constexpr (std::is_same_v<Named, std::string>) return one;
      else return one.name;
    }();
    require(!name.empty() && name.find_first_of(" ;") == std::string::npos,
            what + (' ' + quoted(name)), "needs a name without blanks and semicolons");
    require(std::ranges::find(names, name) == names.end(), what + (' ' + quoted(name)),
            "is there twice");
    names.push_back(name);
  }
  require(!all.empty() && all.size() < 256, std::string("the list of each ") + what,
          "needs 1 to 255 entries");
}

/// What an argument needs of a memory beyond what those that lie there already share with it.
std::uint64_t bytes_more(const Space& space, const Mapping& mapping,
                         const std::vector<bool>& placed, std::uint32_t argument, Kind memory) {
  std::uint64_t shared = 0;
  for (const Overlap& overlap : space.overlaps) {
    if (overlap.a != argument && overlap.b != argument) continue;
    const std::uint32_t other = overlap.a == argument ? overlap.b : overlap.a;
    if (placed[other] && mapping.memory[other] == memory) shared = std::max(shared, overlap.bytes);
  }
  const std::uint64_t bytes = space.arguments[argument].bytes;
  return bytes - std::min(bytes, shared);
}

template <class Named>
std::optional<Kind> index_of(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::ranges::find_if(all, [&](const Named& one) {
    if constexpr (std::is_same_v<Named, std::string>) return one == name;
    else return one.name == name;
  });
  if (found == all.end()) return std::nullopt;
  return static_cast<Kind>(found - all.begin());
}

/// The next of `choices`; false where the first comes again.
bool step(Kind& value, const std::vector<Kind>& choices) {
  const auto next = std::ranges::upper_bound(choices, value);
  value = next == choices.end() ? choices.front() : *next;
  return next != choices.end();
}

void reset_memories(const Space& space, Mapping& mapping, std::uint32_t task) {
  for (const std::uint32_t argument : space.arguments_of(task))
    mapping.memory[argument] = space.processors[mapping.processor[task]].memories.front();
}

/// What stands before the next blank or semicolon, taken off `rest`.
std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find_first_of(" ;"));
  rest.remove_prefix(word.size());
  return word;
}

bool take(std::string_view& rest, std::string_view expected) {
  if (!rest.starts_with(expected)) return false;
  rest.remove_prefix(expected.size());
  return true;
}

}  // namespace

std::ranges::iota_view<std::uint32_t, std::uint32_t> Space::arguments_of(std::uint32_t task) const {
  const auto found = std::ranges::equal_range(arguments, task, {}, &Argument::task);
  return {static_cast<std::uint32_t>(found.begin() - arguments.begin()),
          static_cast<std::uint32_t>(found.end() - arguments.begin())};
}

Kind Space::distributions_of(std::uint32_t task) const {
  return tasks[task].group ? static_cast<Kind>(distributions.size()) : Kind{1};
}

bool Space::has_variant(std::uint32_t task, Kind processor) const {
  return std::ranges::binary_search(tasks[task].variants, processor);
}

bool Space::addressable(Kind processor, Kind memory) const {
  return std::ranges::binary_search(processors[processor].memories, memory);
}

void check(const Space& space) {
  check_names(space.memories, "memory kind");
  check_names(space.processors, "processor kind");
  check_names(space.distributions, "distribution");
  for (std::size_t i = 0; i < space.processors.size(); ++i) {
    const ProcessorKind& kind = space.processors[i];
    const std::string place = "processor kind " + quoted(kind.name);
    require(!kind.memories.empty(), place, "addresses no memory kind");
    require(ascending_below(kind.memories, space.memories.size()), place,
            "has memory kinds that do not exist or are not in the machine's order");
    require(space.addressable(static_cast<Kind>(i), kind.nearest), place,
            "does not address the memory kind nearest to it");
  }
  require(!space.tasks.empty(), "the list of tasks", "is empty");
  for (const Task& task : space.tasks) {
    const std::string place = "task " + quoted(task.name);
    require(!task.variants.empty(), place, "has no variant for any processor kind");
    require(ascending_below(task.variants, space.processors.size()), place,
            "has variants for processor kinds that do not exist or are not in the machine's order");
    require(std::isfinite(task.seconds), place, "has a time that is no number");
  }
  require(std::ranges::is_sorted(space.arguments, {}, &Argument::task), "the list of arguments",
          "is not in the order of the tasks");
  for (const Argument& argument : space.arguments)
    require(argument.task < space.tasks.size(), "argument " + quoted(argument.name),
            "belongs to a task that does not exist");
  for (const Overlap& overlap : space.overlaps)
    require(std::max(overlap.a, overlap.b) < space.arguments.size() && overlap.a != overlap.b,
            "the overlap of arguments " + std::to_string(overlap.a) + " and " +
                std::to_string(overlap.b),
            "is not one of two arguments that exist");
}

std::string fingerprint(const Space& space) {
  Hash hash;
  const auto add_kinds = [&](const std::vector<Kind>& kinds) {
    hash.add(kinds.size());
    for (const Kind kind : kinds) hash.add(std::uint64_t{kind});
  };
  hash.add(space.program);
  hash.add(space.memories.size());
  for (const MemoryKind& memory : space.memories) hash.add(memory.name), hash.add(memory.capacity);
  hash.add(space.processors.size());
  for (const ProcessorKind& kind : space.processors) {
    hash.add(kind.name);
    add_kinds(kind.memories);
  }
  hash.add(space.tasks.size());
  for (const Task& task : space.tasks) {
    hash.add(task.name);
    add_kinds(task.variants);
    hash.add(std::uint64_t{task.group});
  }
  hash.add(space.arguments.size());
  for (const Argument& argument : space.arguments) {
    hash.add(std::uint64_t{argument.task});
    hash.add(argument.name);
    hash.add(argument.bytes);
  }
  hash.add(space.overlaps.size());
  for (const Overlap& overlap : space.overlaps) {
    hash.add(std::uint64_t{overlap.a});
    hash.add(std::uint64_t{overlap.b});
    hash.add(overlap.bytes);
  }
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), hash.value(), 16);
  const std::string number(digits.begin(), end.ptr);
  return std::string(digits.size() - number.size(), '0') + number;
}

std::size_t MappingHash::operator()(const Mapping& mapping) const {
  Hash hash;
  for (const auto* kinds : {&mapping.distribution, &mapping.processor, &mapping.memory})
    hash.add(std::string_view(reinterpret_cast<const char*>(kinds->data()), kinds->size()));
  return hash.value();
}

bool executable(const Space& space, const Mapping& mapping) {
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task)
    if (!space.has_variant(task, mapping.processor[task])) return false;
  for (std::uint32_t i = 0; i < space.arguments.size(); ++i)
    if (!space.addressable(mapping.processor[space.arguments[i].task], mapping.memory[i]))
      return false;
  return true;
}

Mapping starting_point(const Space& space) {
  Mapping start = first_mapping(space);
  std::vector<std::uint64_t> used(space.memories.size());
  std::vector<bool> placed(space.arguments.size());
  const auto fits = [&](std::uint32_t argument, Kind memory) {
    const std::uint64_t capacity = space.memories[memory].capacity;
    return capacity == 0 ||
           used[memory] + bytes_more(space, start, placed, argument, memory) <= capacity;
  };
  for (const std::uint32_t task : tasks_by_time(space)) {
    const std::vector<Kind>& variants = space.tasks[task].variants;
    const auto fast =
        std::ranges::find_if(variants, [&](Kind k) { return space.processors[k].accelerator; });
    start.processor[task] = fast == variants.end() ? variants.front() : *fast;
    const ProcessorKind& kind = space.processors[start.processor[task]];
    for (const std::uint32_t argument : arguments_by_size(space, task)) {
      Kind memory = kind.nearest;
      if (!fits(argument, memory)) {
        const auto other =
            std::ranges::find_if(kind.memories, [&](Kind m) { return fits(argument, m); });
        if (other != kind.memories.end()) memory = *other;
      }
      used[memory] += bytes_more(space, start, placed, argument, memory);
      start.memory[argument] = memory;
      placed[argument] = true;
    }
  }
  return start;
}

std::string text(const Space& space, const Mapping& mapping) {
  std::string all;
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task) {
    if (task > 0) all += "; ";
    all += space.distributions[mapping.distribution[task]];
    all += ' ';
    all += space.processors[mapping.processor[task]].name;
    for (const std::uint32_t argument : space.arguments_of(task)) {
      all += ' ';
      all += space.memories[mapping.memory[argument]].name;
    }
  }
  return all;
}

std::optional<Mapping> mapping_of(const Space& space, std::string_view text) {
  Mapping mapping;
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task) {
    if (task > 0 && !take(text, "; ")) return std::nullopt;
    const auto distribution = index_of(space.distributions, take_word(text));
    if (!distribution || *distribution >= space.distributions_of(task) || !take(text, " "))
      return std::nullopt;
    const auto processor = index_of(space.processors, take_word(text));
    if (!processor) return std::nullopt;
    mapping.distribution.push_back(*distribution);
    mapping.processor.push_back(*processor);
    for (std::size_t i = 0; i < space.arguments_of(task).size(); ++i) {
      if (!take(text, " ")) return std::nullopt;
      const auto memory = index_of(space.memories, take_word(text));
      if (!memory) return std::nullopt;
      mapping.memory.push_back(*memory);
    }
  }
  if (!text.empty()) return std::nullopt;
  return mapping;
}

double size(const Space& space) {
  double all = 1;
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task) {
    double of_processors = 0;
    for (const Kind kind : space.tasks[task].variants)
      of_processors += std::pow(static_cast<double>(space.processors[kind].memories.size()),
                                static_cast<double>(space.arguments_of(task).size()));
    all *= space.distributions_of(task) * of_processors;
  }
  return all;
}

Mapping first_mapping(const Space& space) {
  Mapping first{std::vector<Kind>(space.tasks.size()), std::vector<Kind>(space.tasks.size()),
                std::vector<Kind>(space.arguments.size())};
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task) {
    first.processor[task] = space.tasks[task].variants.front();
    reset_memories(space, first, task);
  }
  return first;
}

bool advance(const Space& space, Mapping& mapping) {
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task) {
    for (const std::uint32_t argument : space.arguments_of(task))
      if (step(mapping.memory[argument], space.processors[mapping.processor[task]].memories))
        return true;
    const bool more = step(mapping.processor[task], space.tasks[task].variants);
    reset_memories(space, mapping, task);
    if (more) return true;
    mapping.distribution[task] =
        static_cast<Kind>((mapping.distribution[task] + 1) % space.distributions_of(task));
    if (mapping.distribution[task] != 0) return true;
  }
  return false;
}

std::vector<std::uint32_t> tasks_by_time(const Space& space) {
  std::vector<std::uint32_t> order(space.tasks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::uint32_t task) { return space.tasks[task].seconds; });
  return order;
}

std::vector<std::uint32_t> arguments_by_size(const Space& space, std::uint32_t task) {
  const auto own = space.arguments_of(task);
  std::vector<std::uint32_t> order(own.begin(), own.end());
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::uint32_t i) { return space.arguments[i].bytes; });
  return order;
}

}  // namespace refrain::map_search
