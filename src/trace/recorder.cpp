#include "trace/recorder.hpp"

#include <algorithm>

#include "analysis/analysis.hpp"
#include "base/assert.hpp"
#include "trace/outcome.hpp"

namespace refrain::trace {

namespace {

Effect::Kind kind_of(analysis::StateChange change) {
  switch (change) {
    case analysis::StateChange::read: return Effect::Kind::read;
    case analysis::StateChange::write: return Effect::Kind::write;
    case analysis::StateChange::read_write: return Effect::Kind::read_write;
    case analysis::StateChange::validate: return Effect::Kind::validate;
    case analysis::StateChange::fold: return Effect::Kind::fold;
  }
  REFRAIN_ASSERT(false, "every change is an effect");
}

/// The piece of this number, null if there is none. A field has its pieces in order of number.
analysis::Piece* find_piece(const analysis::FieldState& field, std::uint32_t number) {
  const auto& pieces = field.pieces();
  const auto at =
      std::ranges::lower_bound(pieces, number, {}, [](const auto& piece) { return piece->number; });
  return at != pieces.end() && (*at)->number == number ? at->get() : nullptr;
}

}  // namespace

void Recorder::step() {
  made_.steps.push_back({static_cast<Index>(made_.operations.size()), 0});
  noted_until_.push_back(noted_.size());
}

std::uint32_t Recorder::index_of(analysis::FieldState& field) {
  const auto [at, added] =
      fields_.try_emplace(&field, static_cast<std::uint32_t>(made_.fields.size()));
  if (added) {
    made_.fields.push_back({&field, 0, 0});
    pieces_first_.push_back(field.next_piece());
  }
  return at->second;
}

void Recorder::uses(analysis::FieldState& field) { index_of(field); }

void Recorder::uses(const data::RegionTree& tree, std::uint64_t uid) {
  const Recording::Tree used{&tree, uid};
  if (std::ranges::find(made_.trees, used) == made_.trees.end()) made_.trees.push_back(used);
}

void Recorder::untraceable(const char* what) {
  if (fault_ == nullptr) fault_ = what;
}

// --- effects ---------------------------------------------------------------------------------------

void Recorder::note(const Effect& effect, analysis::FieldState& field, analysis::Piece& piece) {
  const std::uint32_t index = index_of(field);
  touch(index, piece);
  noted_.push_back({effect, index, &piece, field.next_piece()});
}

void Recorder::change(analysis::StateChange change, analysis::Piece& piece,
                      analysis::Instance& instance, const exec::Node& operation) {
  note({kind_of(change), index_of(operation.seq), 0, &instance}, *instance.field, piece);
}

void Recorder::look(analysis::Instance& instance, const exec::Node& operation) {
  index_of(*instance.field);
  noted_.push_back({{Effect::Kind::look, index_of(operation.seq), 0, &instance}, 0, nullptr, 0});
}

void Recorder::pend(analysis::FieldState& field, analysis::Piece& piece,
                    const analysis::FillValue& value) {
  const auto step = static_cast<Index>(made_.steps.size());
  fills_[&value] = step;
  note({Effect::Kind::pend, step, 0, nullptr}, field, piece);
}

void Recorder::fills(analysis::Piece& piece, const exec::Node&) {
  const auto filled = fills_.find(piece.fill.get());
  source_ = filled != fills_.end() ? FillSource{false, filled->second} : FillSource{true, 0};
  source_piece_.piece = &piece;
}

/// How a piece was before the trace, if it was part of a piece that the trace had touched by then.
const Recorder::Touched* Recorder::inherited(std::uint32_t field,
                                             const analysis::Piece& piece) const {
  const analysis::FieldState& state = *made_.fields[field].field;
  // What was cut before the trace has touched the field has its own state.
  for (const analysis::Piece* part = &piece; part->number >= pieces_first_[field];) {
    const analysis::Piece* whole = find_piece(state, part->cut_from);
    if (whole == nullptr) return nullptr;  // put together with another before the trace
    const auto known = touched_.find(key_of(field, *whole));
    if (known != touched_.end() && known->second.pieces_then <= part->number) return &known->second;
    part = whole;
  }
  return nullptr;
}

Recorder::Touched& Recorder::touch(std::uint32_t field, analysis::Piece& piece) {
  const auto [at, added] = touched_.try_emplace(key_of(field, piece));
  Touched& entry = at->second;
  if (!added) return entry;
  if (const Touched* before = inherited(field, piece)) {
    entry.valid = before->valid;
    entry.pending = before->pending;
  } else {
    for (const analysis::Use& use : piece.uses)
      if (use.valid) entry.valid.push_back(use.instance);
    std::ranges::sort(entry.valid, {}, &analysis::Instance::number);
    entry.pending = piece.fill != nullptr;
  }
  entry.pieces_then = made_.fields[field].field->next_piece();
  return entry;
}

// --- operations ------------------------------------------------------------------------------------

void Recorder::take_work(Operation& made, const exec::Node& node) {
  auto& known = const_cast<exec::Node&>(node);
  switch (node.kind) {
    case exec::NodeKind::task:
    case exec::NodeKind::other: break;  // the runtime knows
    case exec::NodeKind::copy: made.work = known.payload_as<analysis::CopyPayload>(); break;
    case exec::NodeKind::fill: {
      const auto& fill = known.payload_as<analysis::FillPayload>();
      if (source_.entry)
        entry_fills_.push_back(
            {index_of(node.seq), {{}, index_of(*fill.target->field), source_piece_.piece, 0}});
      made.work = Fill{fill.target, fill.points, fill.value_size, source_};
      break;
    }
    case exec::NodeKind::fold: {
      const auto& fold = known.payload_as<analysis::FoldPayload>();
      made.work = Fold{fold, index_of(node.seq - node.reduction)};
      break;
    }
    case exec::NodeKind::access: untraceable("the program accessed data itself"); break;
    case exec::NodeKind::detach: untraceable("memory was detached"); break;
  }
}

Operation& Recorder::at(std::uint64_t seq) {
  const Index index = index_of(seq);
  if (made_.operations.size() <= index) made_.operations.resize(index + 1);
  return made_.operations[index];
}

void Recorder::origin(const exec::Node& node, const analysis::Origin& origin) {
  Operation& made = at(node.seq);
  made.rank = origin.rank;
  made.argument = origin.argument;
}

void Recorder::operation(const exec::Node& node, std::span<const exec::Edge> predecessors) {
  const Index index = index_of(node.seq);
  Operation& made = at(node.seq);
  made.kind = node.kind;
  made.info = node.info;
  made.step = static_cast<Index>(made_.steps.size());
  take_work(made, node);
  for (const exec::Edge& edge : predecessors)
    if (const Index from = index_of(edge.from.seq); from != kOutside)
      made_.edges.push_back({from, index, edge.kind});
}

// --- the end ---------------------------------------------------------------------------------------

Index Recorder::place_of(std::uint32_t field, analysis::Piece& piece) {
  Touched& entry = touch(field, piece);
  if (entry.place == kOutside) {
    entry.place = static_cast<Index>(made_.places.size());
    made_.places.push_back({made_.fields[field].field, &piece, entry.valid, entry.pending});
  }
  return entry.place;
}

/// Calls visit(piece) for the pieces that are left of what something happened to.
template <class Visit>
void Recorder::for_each_part(const Noted& noted, Visit visit) const {
  visit(*noted.piece);
  const analysis::FieldState& field = *made_.fields[noted.field].field;
  if (field.next_piece() == noted.pieces_then) return;
  std::vector<std::uint32_t> numbers{noted.piece->number};
  const auto& pieces = field.pieces();
  auto at = std::ranges::lower_bound(pieces, noted.pieces_then, {},
                                     [](const auto& piece) { return piece->number; });
  for (; at != pieces.end(); ++at) {
    if (std::ranges::find(numbers, (*at)->cut_from) == numbers.end()) continue;
    numbers.push_back((*at)->number);
    visit(**at);
  }
}

void Recorder::place_effects() {
  made_.effects.reserve(noted_.size());
  std::size_t at = 0;
  for (std::size_t step = 0; step < made_.steps.size(); ++step) {
    for (; at < noted_until_[step]; ++at) {
      const Noted& noted = noted_[at];
      Effect effect = noted.effect;
      if (noted.piece == nullptr) {
        made_.effects.push_back(effect);
        continue;
      }
      for_each_part(noted, [&](analysis::Piece& part) {
        effect.place = place_of(noted.field, part);
        made_.effects.push_back(effect);
      });
    }
    made_.steps[step].effects = static_cast<Index>(made_.effects.size());
  }
}

std::unique_ptr<Recording> Recorder::finish() {
  REFRAIN_ASSERT(fault_ == nullptr, "what cannot be done again is not recorded");
  // A call in the middle of which something went wrong is no part of it.
  made_.operations.resize(operations());
  std::erase_if(made_.edges, [this](const RecordedEdge& edge) { return edge.to >= operations(); });
  std::erase_if(entry_fills_, [this](const auto& fill) { return fill.first >= operations(); });
  place_effects();
  for (auto& [operation, noted] : entry_fills_)
    std::get<Fill>(made_.operations[operation].work).source = {true,
                                                               place_of(noted.field, *noted.piece)};
  std::ranges::stable_sort(made_.edges, {}, &RecordedEdge::to);
  for (FieldUsed& used : made_.fields) {
    used.shape_epoch = used.field->shape_epoch();
    used.instance_epoch = used.field->instance_epoch();
  }
  find_chain_edges(made_);
  return std::make_unique<Recording>(std::move(made_));
}

}  // namespace refrain::trace
