#include "analysis/field_state.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/assert.hpp"
#include "data/set_algebra.hpp"

namespace refrain::analysis {

FieldState::FieldState(data::IndexSpaceRef space, const ValueType& type, std::string field_name,
                       const data::RegionTree* tree)
    : space_(std::move(space)), type_(type), name_(std::move(field_name)), tree_(tree) {
  auto zeros = std::make_shared<FillValue>();
  zeros->bytes.assign(type.size, std::byte{0});
  zeros_ = std::move(zeros);
  if (!space_->empty()) add_piece(space_).fill = zeros_;
}

FieldState::~FieldState() = default;

std::string FieldState::describe() const {
  return "field '" + name_ + "'" + (tree_ != nullptr ? " of " + tree_->name_of(0) : std::string());
}

Piece& FieldState::add_piece(data::IndexSpaceRef points) {
  Piece& piece = *pieces_.emplace_back(std::make_unique<Piece>());
  piece.points = std::move(points);
  index_.insert(piece, piece.points->bounds());
  return piece;
}

// Afterwards `piece` has the points in `inside` and a new piece of the same state has the others.
void FieldState::split(Piece& piece, const data::IndexSpaceRef& inside) {
  index_.erase(piece, piece.points->bounds());
  Piece& rest = add_piece(data::subtract_uncached(piece.points, inside));
  piece.points = inside;
  index_.insert(piece, inside->bounds());
  rest.uses = piece.uses;
  rest.fill = piece.fill;
  rest.footprints = piece.footprints;
  for (Footprint* footprint : rest.footprints) footprint->pieces.push_back(&rest);
}

// `piece` contains the whole parent of a disjoint partition: cut out all its pieces at once.
void FieldState::split_by_siblings(Piece& piece, const data::RegionTree& tree,
                                   const data::PartitionNode& partition) {
  const std::uint32_t colours = static_cast<std::uint32_t>(partition.colours->volume());
  std::vector<data::IndexSpaceRef> parts;
  for (std::uint32_t c = 0; c < colours; ++c) {
    const data::IndexSpaceRef& part = tree.node(partition.first_child + c).space;
    if (!part->empty()) parts.push_back(part);
  }
  data::IndexSpaceRef rest =
      data::subtract_uncached(piece.points, data::unite(piece.points->dim(), parts));
  if (!rest->empty()) parts.push_back(std::move(rest));
  index_.erase(piece, piece.points->bounds());
  piece.points = parts.front();
  index_.insert(piece, piece.points->bounds());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    Piece& part = add_piece(std::move(parts[i]));
    part.uses = piece.uses;
    part.fill = piece.fill;
    part.footprints = piece.footprints;
    for (Footprint* footprint : part.footprints) footprint->pieces.push_back(&part);
  }
}

// Splits pieces until the points are a union of whole ones.
void FieldState::refine(const data::IndexSpaceRef& points, const data::RegionTree* tree,
                        std::uint32_t node) {
  const std::uint32_t family =
      tree != nullptr ? tree->node(node).partition : data::RegionNode::none;
  for (Piece* piece : index_.query(*points)) {
    if (data::contains_uncached(points, piece->points)) continue;
    if (family != data::RegionNode::none) {
      const data::PartitionNode& partition = tree->partition(family);
      if (partition.colours->volume() > 2 && tree->is_disjoint(family) &&
          data::contains_uncached(piece->points, tree->node(partition.parent).space)) {
        split_by_siblings(*piece, *tree, partition);
        return;  // the piece held the whole parent, so no other piece meets the region
      }
    }
    const data::IndexSpaceRef common = data::intersect_uncached(piece->points, points);
    if (!common->empty()) split(*piece, common);
  }
}

Footprint& FieldState::footprint(const data::IndexSpaceRef& points, const data::RegionTree* tree,
                                 std::uint32_t node) {
  std::unique_ptr<Footprint>& slot = footprints_[points.get()];
  if (slot) return *slot;
  refine(points, tree, node);
  slot = std::make_unique<Footprint>();
  slot->points = points;
  for (Piece* piece : index_.query(*points)) {
    if (!data::contains_uncached(points, piece->points)) continue;
    slot->pieces.push_back(piece);
    piece->footprints.push_back(slot.get());
  }
  return *slot;
}

void FieldState::forget_footprints(const std::function<bool(const data::IndexSpaceRef&)>& in_use) {
  const std::size_t before = footprints_.size();
  std::erase_if(footprints_, [&](const auto& entry) {
    Footprint& footprint = *entry.second;
    if (in_use(footprint.points)) return false;
    for (Piece* piece : footprint.pieces) std::erase(piece->footprints, &footprint);
    return true;
  });
  if (footprints_.size() != before) coalesce();
}

namespace {

bool same_state(const Piece& a, const Piece& b) {
  if (a.fill != b.fill || a.uses.size() != b.uses.size() || a.footprints != b.footprints)
    return false;
  for (std::size_t i = 0; i < a.uses.size(); ++i) {
    const Use &x = a.uses[i], &y = b.uses[i];
    if (x.instance != y.instance || x.valid != y.valid || x.writer != y.writer ||
        x.readers != y.readers)
      return false;
  }
  return true;
}

std::size_t state_hash(const Piece& piece) {
  std::size_t hash = piece.uses.size();
  auto mix = [&hash](std::size_t x) { hash = (hash ^ x) * 0x9E3779B97F4A7C15ull; };
  for (const Footprint* footprint : piece.footprints) mix(reinterpret_cast<std::size_t>(footprint));
  for (const Use& use : piece.uses) mix(use.writer.seq + use.readers.size() + (use.valid ? 1 : 0));
  return hash;
}

}  // namespace

// Puts pieces together that are in the same footprints and in the same state. Pieces keep their order.
void FieldState::coalesce() {
  for (const auto& piece : pieces_) std::sort(piece->footprints.begin(), piece->footprints.end());
  std::unordered_map<std::size_t, std::vector<std::vector<Piece*>>> groups;
  for (const auto& piece : pieces_) {
    auto& bucket = groups[state_hash(*piece)];
    auto group = std::find_if(bucket.begin(), bucket.end(), [&](const std::vector<Piece*>& g) {
      return same_state(*g.front(), *piece);
    });
    if (group == bucket.end()) bucket.push_back({piece.get()});
    else group->push_back(piece.get());
  }
  std::unordered_set<const Piece*> gone;
  for (auto& [hash, bucket] : groups) {
    for (std::vector<Piece*>& group : bucket) {
      if (group.size() == 1) continue;
      std::vector<data::IndexSpaceRef> parts;
      for (Piece* piece : group) {
        parts.push_back(piece->points);
        index_.erase(*piece, piece->points->bounds());
        if (piece != group.front()) gone.insert(piece);
      }
      group.front()->points = data::unite(space_->dim(), parts);
      index_.insert(*group.front(), group.front()->points->bounds());
    }
  }
  if (gone.empty()) return;
  for (auto& [key, footprint] : footprints_)
    std::erase_if(footprint->pieces, [&](const Piece* piece) { return gone.contains(piece); });
  std::erase_if(pieces_, [&](const auto& piece) { return gone.contains(piece.get()); });
}

Instance& FieldState::add_instance(std::unique_ptr<Instance> instance) {
  instance->field = this;
  instance->number = next_instance_++;
  ++instance_epoch_;
  return *instances_.emplace_back(std::move(instance));
}

std::unique_ptr<Instance> FieldState::remove_instance(Instance& instance,
                                                      std::vector<exec::NodeRef>& users) {
  for (Piece* piece : index_.query(*instance.space)) {
    auto use = std::find_if(piece->uses.begin(), piece->uses.end(),
                            [&](const Use& u) { return u.instance == &instance; });
    if (use == piece->uses.end()) continue;
    if (use->writer && !exec::is_complete(use->writer)) users.push_back(use->writer);
    for (const exec::NodeRef& reader : use->readers)
      if (!exec::is_complete(reader)) users.push_back(reader);
    piece->uses.erase(use);
  }
  for (const exec::NodeRef& looker : instance.lookers)
    if (!exec::is_complete(looker)) users.push_back(looker);
  auto it = std::find_if(instances_.begin(), instances_.end(),
                         [&](const auto& other) { return other.get() == &instance; });
  REFRAIN_ASSERT(it != instances_.end(),
                 "an instance belongs to the field state it is removed from");
  std::unique_ptr<Instance> removed = std::move(*it);
  instances_.erase(it);
  ++instance_epoch_;
  return removed;
}

void FieldState::reset() {
  REFRAIN_ASSERT(instances_.empty(), "a field state is reset after its instances are gone");
  for (const auto& piece : pieces_) {
    piece->uses.clear();
    piece->fill = zeros_;
  }
  next_instance_ = 0;
}

void FieldState::check_invariants() const {
  std::size_t volume = 0;
  std::vector<data::IndexSpaceRef> all;
  for (const auto& piece : pieces_) {
    REFRAIN_ASSERT(!piece->points->empty(), "a piece has points");
    volume += piece->points->volume();
    all.push_back(piece->points);
  }
  REFRAIN_ASSERT(volume == space_->volume() && data::unite(space_->dim(), all) == space_,
                 "the pieces are disjoint and cover the field's points");
  for (const auto& [key, footprint] : footprints_) {
    std::vector<data::IndexSpaceRef> parts;
    for (const Piece* piece : footprint->pieces) parts.push_back(piece->points);
    REFRAIN_ASSERT(data::unite(space_->dim(), parts) == footprint->points,
                   "a footprint is the union of its pieces");
  }
}

}  // namespace refrain::analysis
