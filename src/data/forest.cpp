#include "data/forest.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"

namespace refrain::data {

class TreeGraveyard {
 public:
  std::unique_ptr<RegionTree> take() {
    const std::lock_guard lock(mutex_);
    if (trees_.empty()) return std::make_unique<RegionTree>();
    auto tree = std::move(trees_.back());
    trees_.pop_back();
    return tree;
  }
  void put(std::unique_ptr<RegionTree> tree) noexcept {
    const std::lock_guard lock(mutex_);
    trees_.push_back(std::move(tree));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<RegionTree>, SureAllocator<std::unique_ptr<RegionTree>>> trees_;
};

std::shared_ptr<TreeGraveyard> make_graveyard() { return std::make_shared<TreeGraveyard>(); }

Forest::Forest(std::shared_ptr<TreeGraveyard> graveyard) : Forest(std::move(graveyard), 0) {}

Forest::Forest(std::shared_ptr<TreeGraveyard> graveyard, int depth)
    : depth_(depth), graveyard_(std::move(graveyard)) {}

Forest Forest::nested_in(const Forest& enclosing) {
  return {enclosing.graveyard_, enclosing.depth_ + 1};
}

Forest::~Forest() {
  for (auto& tree : slots_)
    if (tree) {
      tree->empty();
      graveyard_->put(std::move(tree));
    }
}

RegionTree& Forest::create(IndexSpaceRef space, std::vector<FieldColumn> fields) {
  ++alive_;
  if (RegionTree* tree = find_dormant(space, fields)) {
    tree->revive();
    return *tree;
  }
  const std::uint32_t slot = take_slot();
  slots_[slot] = graveyard_->take();
  slots_[slot]->start(*this, slot, std::move(space), std::move(fields));
  return *slots_[slot];
}

std::vector<NodeRange> Forest::destroy(RegionTree& tree) {
  REFRAIN_ASSERT(&tree.forest() == this && tree.alive(),
                 "only a living tree of this forest is destroyed");
  std::vector<NodeRange> dropped = tree.sleep();
  --alive_;
  dormant_.push_back(&tree);
  if (dormant_.size() > max_dormant) drop_oldest(tree);
  return dropped;
}

std::vector<RegionTree*> Forest::trees() const {
  std::vector<RegionTree*> trees;
  for (const auto& tree : slots_)
    if (tree && tree->alive()) trees.push_back(tree.get());
  return trees;
}

RegionTree* Forest::find_dormant(const IndexSpaceRef& space,
                                 const std::vector<FieldColumn>& fields) {
  const auto found = std::find_if(dormant_.rbegin(), dormant_.rend(), [&](const RegionTree* tree) {
    return tree->space() == space && tree->fields() == fields;
  });
  if (found == dormant_.rend()) return nullptr;
  RegionTree* tree = *found;
  dormant_.erase(std::next(found).base());
  return tree;
}

std::uint32_t Forest::take_slot() {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_slots_.top();
  free_slots_.pop();
  return slot;
}

void Forest::drop_oldest(const RegionTree& except) {
  for (std::size_t i = 0; i < dormant_.size() && dormant_.size() > max_dormant;) {
    RegionTree* tree = dormant_[i];
    if (tree == &except || tree->pins() > 0) {
      ++i;
      continue;
    }
    dormant_.erase(dormant_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::uint32_t slot = tree->slot();
    tree->empty();
    graveyard_->put(std::move(slots_[slot]));
    free_slots_.push(slot);
  }
}

}  // namespace refrain::data
