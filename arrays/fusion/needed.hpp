#pragma once
// Which steps and loads of a window lead to some of its results, and which numbers they have when the others are left
// out.

#include <cstdint>
#include <vector>

#include "fusion/program.hpp"

namespace refrain::arrays::detail {

class Needed {
 public:
  /// None, of so many.
  void clear(std::size_t steps, std::size_t loads) {
    steps_.assign(steps, kLeftOut);
    loads_.assign(loads, kLeftOut);
  }
  void add_step(std::uint16_t step) { steps_[step] = 0; }
  void add(const Source& source) {
    if (source.from == Source::From::step) steps_[source.index] = 0;
    if (source.from == Source::From::load) loads_[source.index] = 0;
  }
  /// And all that those are computed from; then they are numbered.
  void complete(const std::vector<Step>& steps) {
    for (std::size_t s = steps.size(); s-- > 0;)
      if (has_step(s))
        for (const Source& source : steps[s].operands) add(source);
    number(steps_);
    number(loads_);
  }

  [[nodiscard]] bool has_step(std::size_t step) const { return steps_[step] != kLeftOut; }
  [[nodiscard]] bool has_load(std::size_t load) const { return loads_[load] != kLeftOut; }
  [[nodiscard]] std::uint16_t step(std::size_t old) const { return steps_[old]; }
  /// The same with its new number; plain numbers keep theirs.
  [[nodiscard]] Source renamed(Source source) const {
    if (source.from == Source::From::step) source.index = steps_[source.index];
    if (source.from == Source::From::load) source.index = loads_[source.index];
    return source;
  }

 private:
  static constexpr std::uint16_t kLeftOut = 0xFFFF;
  static void number(std::vector<std::uint16_t>& numbers) {
    std::uint16_t next = 0;
    for (std::uint16_t& number : numbers)
      if (number != kLeftOut) number = next++;
  }

  std::vector<std::uint16_t> steps_, loads_;  // new numbers by old ones
};

}  // namespace refrain::arrays::detail
