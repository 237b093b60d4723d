#pragma once
// The instances of one field, findable by the points they have room for. Those of the whole field are few
// and stand in a list; the others are in an index of their boxes, so that to find one among very many costs
// O(log n) and a look at each that has room for one and the same point.
//
// Owner: the field state's.

#include <memory>
#include <vector>

#include "analysis/instance.hpp"
#include "data/box_index.hpp"

namespace refrain::analysis {

class InstanceSet {
 public:
  explicit InstanceSet(const data::IndexSpaceRef& field) : field_(field) {}

  /// The one to use for these points in this memory: one whose bytes are not the pool's, or the first made
  /// with this order of dimensions; null when none contains the points.
  [[nodiscard]] Instance* find(const data::IndexSpaceRef& points, MemoryId memory,
                               Order order) const;
  Instance& add(std::unique_ptr<Instance> instance);
  std::unique_ptr<Instance> remove(Instance& instance);
  /// In order of creation.
  [[nodiscard]] const std::vector<std::unique_ptr<Instance>>& all() const { return all_; }
  /// Numbers begin anew. There must be none.
  void reset() { next_ = 0; }

 private:
  [[nodiscard]] std::vector<Instance*> around(const data::IndexSpaceRef& points) const;

  const data::IndexSpaceRef& field_;  ///< all points
  std::vector<std::unique_ptr<Instance>> all_;
  std::vector<Instance*> whole_;  ///< those of all points
  data::BoxIndex<Instance> others_;
  std::uint32_t next_ = 0;
};

}  // namespace refrain::analysis
