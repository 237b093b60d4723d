#pragma once
// Which steps, loads and constants of a window lead to some of its results, and where they are when the others are
// left out.

#include <cstdint>
#include <vector>

#include "fusion/program.hpp"

namespace refrain::arrays::detail {

class Needed {
 public:
  /// None, of so many.
  void clear(std::size_t steps, std::size_t loads, std::size_t constants) {
    steps_.assign(steps, kLeftOut);
    loads_.assign(loads, kLeftOut);
    constants_.assign(constants, kLeftOut);
  }
  void add_step(std::uint16_t step) { steps_[step] = 0; }
  void add(const Source& source) {
    if (source.from == Source::From::step) steps_[source.index] = 0;
    if (source.from == Source::From::load) loads_[source.index] = 0;
    if (source.from == Source::From::constant) constants_[source.index] = 0;
  }
  /// And all that those are computed from; then they get their new places.
  void complete(const std::vector<Step>& steps) {
    for (std::size_t s = steps.size(); s-- > 0;)
      if (has_step(s))
        for (const Source& source : steps[s].operands) add(source);
    place(steps_);
    place(loads_);
    place(constants_);
  }

  [[nodiscard]] bool has_step(std::size_t step) const { return steps_[step] != kLeftOut; }
  [[nodiscard]] bool has_load(std::size_t load) const { return loads_[load] != kLeftOut; }
  [[nodiscard]] bool has_constant(std::size_t constant) const {
    return constants_[constant] != kLeftOut;
  }
  /// Its new place.
  [[nodiscard]] std::uint16_t step(std::size_t old) const { return steps_[old]; }
  [[nodiscard]] Source moved(Source source) const {
    switch (source.from) {
      case Source::From::nothing: break;
      case Source::From::step: source.index = steps_[source.index]; break;
      case Source::From::load: source.index = loads_[source.index]; break;
      case Source::From::constant: source.index = constants_[source.index]; break;
    }
    return source;
  }

 private:
  static constexpr std::uint16_t kLeftOut = 0xFFFF;
  static void place(std::vector<std::uint16_t>& places) {
    std::uint16_t next = 0;
    for (std::uint16_t& place : places)
      if (place != kLeftOut) place = next++;
  }

  std::vector<std::uint16_t> steps_, loads_, constants_;  // new places by old ones
};

}  // namespace refrain::arrays::detail
