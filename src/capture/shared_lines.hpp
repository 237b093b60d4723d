#pragma once
// Which cores have read whose values. A core that writes values which another one has read since they were written waits
// for each line of the cache until that one has let it go: several times as long as the writing takes. What another core
// has written, but not read since, is there in no time, and whoever reads and then writes it does not wait, either: so it
// was on the machines that were looked at. Measured when a program is captured (report/core_waits.hpp).
//
// Values are told apart by blocks: the points of a box in one instance. Who reads or writes a block does so with all those
// that have half of their points or more in it. A core's cache has room for so many bytes; what it has touched least
// lately is no longer there. One thread; some 10 ns for each block, and a search in an index to find one.

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "capture/captured_program.hpp"
#include "data/box_index.hpp"

namespace refrain::capture {

/// Values that an operation reads or writes.
struct Touch {
  std::uint32_t block = 0;
  bool reads = false, writes = false;
  double bytes = 0;
};

class SharedLines {
 public:
  /// `shared_writes`: how much longer writes of so many bytes take, until it is as much as is in a cache.
  explicit SharedLines(Costs shared_writes);
  /// Whether writing takes longer at all.
  [[nodiscard]] bool matter() const { return !shared_writes_.empty(); }

  /// Two numbers that no other instance has.
  using Instance = std::pair<const void*, std::uint64_t>;
  /// The number of a block. Requires some points.
  std::uint32_t block(const Instance& instance, const data::Box& points);
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
  /// An operation that does this begins on a core. Returns the seconds that it waits for others. Requires that
  /// matter() is true.
  double begin(const std::vector<Touch>& touches, std::uint32_t core);

 private:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  struct Reader {
    std::uint32_t core = kNobody;
    double touched = 0;  ///< what it had touched in all when it read this last, in bytes
  };
  struct Block {
    data::Box points;
    std::uint32_t number;
    std::vector<Block*> has_most_of{};  ///< itself, and others of the instance
    Reader last{}, before{};            ///< since it was written; before: another core than last
  };

  Costs shared_writes_;
  std::deque<Block> blocks_;
  std::map<Instance, data::BoxIndex<Block>> instances_;
  std::vector<double> touched_;  ///< by core, in bytes
};

}  // namespace refrain::capture
