#include "analysis/field_state.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/assert.hpp"
#include "data/set_algebra.hpp"

namespace refrain::analysis {

FieldState::FieldState(data::IndexSpaceRef space, const ValueType& type, std::string field_name,
                       const data::RegionTree* tree)
    : space_(std::move(space)),
      type_(type),
      name_(std::move(field_name)),
      tree_(tree),
      instances_(space_) {
  auto zeros = std::make_shared<FillValue>();
  zeros->bytes.assign(type.size, std::byte{0});
  zeros_ = std::move(zeros);
  if (space_->empty()) return;
  Piece& whole = add_piece();
  whole.fill = zeros_;
  whole.points = space_;
  for (const data::Box& box : space_->boxes()) cells_.add(whole, box);
}

FieldState::~FieldState() = default;

std::string FieldState::describe() const {
  return "field '" + name_ + "'" + (tree_ != nullptr ? " of " + tree_->name_of(0) : std::string());
}

Piece& FieldState::add_piece() {
  Piece& piece = *pieces_.emplace_back(std::make_unique<Piece>());
  piece.number = next_piece_++;
  ++shape_epoch_;
  return piece;
}

std::vector<Piece*> FieldState::all_pieces() const {
  std::vector<Piece*> pieces;
  pieces.reserve(pieces_.size());
  for (const auto& piece : pieces_) pieces.push_back(piece.get());
  return pieces;
}

const data::IndexSpaceRef& FieldState::points_of(Piece& piece) const {
  if (!piece.points) {
    data::BoxList boxes;
    for (const Cell& cell : piece.cells) boxes.push_back(cell.box);
    piece.points = data::IndexSpace::from_boxes(space_->dim(), std::move(boxes));
  }
  return piece.points;
}

// A new piece of the same state takes over some of the cells.
Piece& FieldState::split(Piece& piece, std::span<Cell* const> inside) {
  Piece& part = add_piece();
  part.cut_from = piece.number;
  part.uses = piece.uses;
  part.fill = piece.fill;
  part.footprints = piece.footprints;
  for (Footprint* footprint : part.footprints) footprint->pieces.push_back(&part);
  for (Cell* cell : inside) {
    piece.cells.erase(piece.cells.iterator_to(*cell));
    part.cells.push_back(*cell);
    cell->piece = &part;
  }
  piece.points = {};
  return part;
}

namespace {

// By the pieces' order of creation: nothing may depend on addresses, or on the order of a search.
void sort_by_piece(std::vector<Cell*>& cells) {
  const auto number = [](const Cell* cell) { return cell->piece->number; };
  if (!std::ranges::is_sorted(cells, {}, number)) std::ranges::stable_sort(cells, {}, number);
}

}  // namespace

std::vector<Piece*> FieldState::pieces_meeting(const data::IndexSpaceRef& points) const {
  if (points == space_) return all_pieces();
  std::vector<Cell*> cells = cells_.meeting(*points);
  sort_by_piece(cells);
  std::vector<Piece*> pieces;
  for (const Cell* cell : cells)
    if (pieces.empty() || pieces.back() != cell->piece) pieces.push_back(cell->piece);
  return pieces;
}

// Splits the pieces that the set covers in part; returns those that it covers then.
std::vector<Piece*> FieldState::cut_out(const data::IndexSpaceRef& points) {
  if (points == space_) return all_pieces();
  std::vector<Cell*> inside = cells_.cut_out(*points);
  sort_by_piece(inside);
  std::vector<Piece*> covered;
  for (std::size_t first = 0, last = 0; first < inside.size(); first = last) {
    Piece& piece = *inside[first]->piece;
    while (last < inside.size() && inside[last]->piece == &piece) ++last;
    const bool whole = last - first == piece.cells.size();
    covered.push_back(whole ? &piece
                            : &split(piece, std::span(inside).subspan(first, last - first)));
  }
  return covered;
}

Footprint& FieldState::find_or_make(const data::IndexSpaceRef& points) {
  std::unique_ptr<Footprint>& slot = footprints_[points.get()];
  if (slot) return *slot;
  std::vector<Piece*> pieces = cut_out(points);
  slot = std::make_unique<Footprint>(Footprint{points, std::move(pieces), ++passing_clock_});
  for (Piece* piece : slot->pieces) piece->footprints.push_back(slot.get());
  ++passing_;
  return *slot;
}

Footprint& FieldState::footprint(const data::IndexSpaceRef& points) {
  Footprint& footprint = find_or_make(points);
  if (std::exchange(footprint.passing, 0) != 0) --passing_;
  return footprint;
}

Footprint& FieldState::passing_footprint(const data::IndexSpaceRef& points) {
  Footprint& footprint = find_or_make(points);
  if (footprint.passing != 0) footprint.passing = ++passing_clock_;
  return footprint;
}

void FieldState::forget_passing() {
  std::vector<std::uint64_t> asked;
  for (const auto& [key, footprint] : footprints_)
    if (footprint->passing != 0) asked.push_back(footprint->passing);
  const auto middle = asked.begin() + static_cast<std::ptrdiff_t>(asked.size() / 2);
  if (middle == asked.end()) return;
  std::ranges::nth_element(asked, middle);
  forget_if([last = *middle](const Footprint& f) { return f.passing != 0 && f.passing <= last; });
}

void FieldState::forget_footprints(const std::function<bool(const data::IndexSpaceRef&)>& in_use) {
  forget_if([&](const Footprint& footprint) { return !in_use(footprint.points); });
}

void FieldState::forget_if(const std::function<bool(const Footprint&)>& unwanted) {
  const std::size_t before = footprints_.size();
  std::erase_if(footprints_, [&](const auto& entry) {
    Footprint& footprint = *entry.second;
    if (!unwanted(footprint)) return false;
    for (Piece* piece : footprint.pieces) std::erase(piece->footprints, &footprint);
    if (footprint.passing != 0) --passing_;
    return true;
  });
  if (footprints_.size() != before) coalesce();
}

void FieldState::forget_complete_readers() {
  for (const auto& piece : pieces_)
    for (Use& use : piece->uses)
      use.readers.erase(std::remove_if(use.readers.begin(), use.readers.end(), exec::is_complete),
                        use.readers.end());
}

namespace {

bool same_state(const Piece& a, const Piece& b) {
  if (a.fill != b.fill || a.uses.size() != b.uses.size() || a.footprints != b.footprints)
    return false;
  for (std::size_t i = 0; i < a.uses.size(); ++i) {
    const Use &x = a.uses[i], &y = b.uses[i];
    if (x.instance != y.instance || x.valid != y.valid || x.writer != y.writer ||
        x.readers != y.readers || !(x.group == y.group))
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
        parts.push_back(points_of(*piece));
        cells_.drop(*piece);
        if (piece != group.front()) gone.insert(piece);
      }
      group.front()->points = data::unite(space_->dim(), parts);
      for (const data::Box& box : group.front()->points->boxes()) cells_.add(*group.front(), box);
    }
  }
  if (gone.empty()) return;
  ++shape_epoch_;
  for (auto& [key, footprint] : footprints_)
    std::erase_if(footprint->pieces, [&](const Piece* piece) { return gone.contains(piece); });
  std::erase_if(pieces_, [&](const auto& piece) { return gone.contains(piece.get()); });
}

// Another instance of the pool's changes no choice but those that wanted one where there was none.
Instance& FieldState::add_instance(std::unique_ptr<Instance> instance) {
  instance->field = this;
  if (second_best_ || instance->storage != Storage::pool) ++instance_epoch_;
  second_best_ = false;
  return instances_.add(std::move(instance));
}

std::unique_ptr<Instance> FieldState::remove_instance(Instance& instance,
                                                      std::vector<exec::NodeRef>& users) {
  for (Piece* piece : pieces_meeting(instance.space)) {
    auto use = std::find_if(piece->uses.begin(), piece->uses.end(),
                            [&](const Use& u) { return u.instance == &instance; });
    if (use == piece->uses.end()) continue;
    const auto note = [&users](const exec::NodeRef& user) {
      if (!exec::is_complete(user)) users.push_back(user);
    };
    use->for_each_writer(note);
    std::for_each(use->readers.begin(), use->readers.end(), note);
    piece->uses.erase(use);
  }
  for (const exec::NodeRef& looker : instance.lookers)
    if (!exec::is_complete(looker)) users.push_back(looker);
  ++instance_epoch_;
  return instances_.remove(instance);
}

void FieldState::reset() {
  REFRAIN_ASSERT(instances_.all().empty(), "a field state is reset after its instances are gone");
  for (const auto& piece : pieces_) {
    piece->uses.clear();
    piece->fill = zeros_;
  }
  instances_.reset();
}

void FieldState::check_invariants() const {
  std::size_t volume = 0;
  std::vector<data::IndexSpaceRef> all;
  for (const auto& piece : pieces_) {
    REFRAIN_ASSERT(!piece->cells.empty(), "a piece has points");
    const data::IndexSpaceRef& points = points_of(*piece);
    volume += points->volume();
    all.push_back(points);
  }
  REFRAIN_ASSERT(volume == space_->volume() && data::unite(space_->dim(), all) == space_,
                 "the pieces are disjoint and cover the field's points");
  for (const auto& [key, footprint] : footprints_) {
    std::vector<data::IndexSpaceRef> parts;
    for (Piece* piece : footprint->pieces) parts.push_back(points_of(*piece));
    REFRAIN_ASSERT(data::unite(space_->dim(), parts) == footprint->points,
                   "a footprint is the union of its pieces");
  }
}

}  // namespace refrain::analysis
