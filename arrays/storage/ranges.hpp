#pragma once
// Runs of a storage, one for each point of a launch: what the tasks of an operation touch of an array.

#include <cstdint>
#include <memory>
#include <vector>

#include "refrain/arrays/shape.hpp"
#include "storage/interned.hpp"

namespace refrain::arrays::detail {

/// Elements first .. last.
struct Range {
  Coord first, last;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Interned: equal ones are one object while anybody has it. Plans hold them, which tasks in flight hold, so the last
/// to let go may be a worker.
struct Ranges {
  std::vector<Range> of_point;
};

class RangesTable {
 public:
  std::shared_ptr<const Ranges> intern(std::vector<Range> of_point);

 private:
  Interned<Ranges> known_;
};

}  // namespace refrain::arrays::detail
