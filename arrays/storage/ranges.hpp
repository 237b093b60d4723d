#pragma once
// Runs of a storage, one for each point of a launch: what the tasks of an operation touch of an array.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "refrain/arrays/shape.hpp"

namespace refrain::arrays {

/// Elements first .. last.
struct Range {
  Coord first, last;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Interned: equal ones are one object, which lives as long as the session.
struct Ranges {
  std::vector<Range> of_point;
};

class RangesTable {
 public:
  const Ranges& intern(std::vector<Range> of_point);

 private:
  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<Ranges>>> by_hash_;
};

}  // namespace refrain::arrays
