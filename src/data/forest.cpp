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
  for (auto* trees : {&slots_, &dropped_})
    for (auto& tree : *trees)
      if (tree) bury(std::move(tree));
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

bool Forest::destroy(RegionTree& tree) {
  REFRAIN_ASSERT(&tree.forest() == this && tree.alive(),
                 "only a living tree of this forest is destroyed");
  const bool dropped = tree.sleep();
  --alive_;
  dormant_.push_back(&tree);
  if (dormant_.size() > max_dormant) drop_oldest();
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

void Forest::drop_oldest() {
  RegionTree& oldest = *dormant_.front();
  dormant_.erase(dormant_.begin());
  oldest.drop();
  free_slots_.push(oldest.slot());
  std::unique_ptr<RegionTree> dropped = std::move(slots_[oldest.slot()]);
  if (oldest.pins() == 0) return bury(std::move(dropped));
  dropped_.push_back(std::move(dropped));
  if (dropped_.size() < look_again_at_) return;
  std::erase_if(dropped_, [this](auto& tree) {
    if (tree->pins() > 0) return false;
    bury(std::move(tree));
    return true;
  });
  look_again_at_ = 2 * dropped_.size() + kFew;
}

void Forest::bury(std::unique_ptr<RegionTree> tree) {
  tree->empty();
  graveyard_->put(std::move(tree));
}

}  // namespace refrain::data
