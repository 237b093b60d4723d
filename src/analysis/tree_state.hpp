#pragma once
// The analysis state of a region tree in the context that made it: one FieldState per field, made when
// the field is first used. Hangs on RegionTree::state, so it lives on while the tree is dormant: a region
// that takes over the slot finds its pieces and footprints there.

#include <memory>
#include <vector>

#include "analysis/field_state.hpp"
#include "data/region_tree.hpp"

namespace refrain::analysis {

class TreeState {
 public:
  /// The tree's state, made when missing.
  static TreeState& of(data::RegionTree& tree) {
    if (!tree.state) tree.state = std::make_shared<TreeState>();
    return *static_cast<TreeState*>(tree.state.get());
  }
  FieldState& field(const data::RegionTree& tree, std::uint32_t index) {
    if (fields_.size() <= index) fields_.resize(tree.fields().size());
    std::unique_ptr<FieldState>& state = fields_[index];
    if (!state) {
      const data::FieldColumn& column = tree.fields()[index];
      state = std::make_unique<FieldState>(tree.space(), column.type, column.name, &tree);
    }
    return *state;
  }
  /// The fields used so far.
  template <class F>
  void for_each(F&& f) {
    for (auto& state : fields_)
      if (state) f(*state);
  }

 private:
  std::vector<std::unique_ptr<FieldState>> fields_;
};

}  // namespace refrain::analysis
