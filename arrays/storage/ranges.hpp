#pragma once
// Runs of a storage, one for each point of a launch: what the tasks of an operation touch of an array.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "refrain/arrays/shape.hpp"

namespace refrain::arrays::detail {

/// Elements first .. last.
struct Range {
  Coord first, last;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Interned: equal ones are one object while anybody has it.
struct Ranges {
  std::vector<Range> of_point;
};

class RangesTable {
 public:
  std::shared_ptr<const Ranges> intern(std::vector<Range> of_point);

 private:
  void forget_unused();

  std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<const Ranges>>> by_hash_;
  std::size_t count_ = 0, sweep_at_ = 1024;
};

}  // namespace refrain::arrays::detail
