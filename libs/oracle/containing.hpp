#pragma once
// Which uses in a grammar contain an event, so that all others are skipped in search of its next occurrence. 16 bytes
// for each use that contains it: made for an event that is asked for, since for all events together it would be as
// large as the grammar times their number. Immutable.

#include <cstdint>
#include <optional>
#include <vector>

#include "oracle/reference.hpp"

namespace refrain::oracle {

class Containing {
 public:
  /// O(n log n) for n uses that contain it.
  Containing(const Reference& reference, std::uint32_t event);

  struct Found {
    std::uint32_t position;
    std::uint64_t offset;  ///< how many events of a repetition come before the first occurrence
  };
  /// The first such position from `begin` to before `end`. O(log n).
  [[nodiscard]] std::optional<Found> first(std::uint32_t begin, std::uint32_t end) const;
  /// The first occurrence in the run that is at least the one of that number (from 0). None: there is none. O(d log n)
  /// for a path of d uses.
  [[nodiscard]] std::optional<std::uint64_t> first_from(const Reference& reference,
                                                        std::uint64_t event) const;
  /// How much is kept.
  [[nodiscard]] std::size_t size() const { return found_.size(); }

 private:
  std::vector<Found> found_;  ///< by position
};

}  // namespace refrain::oracle
