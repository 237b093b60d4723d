#include "shard/layers.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/hash.hpp"

namespace refrain::shard {

using data::IndexSpace;
using data::IndexSpaceRef;

namespace {

constexpr ShardId kNobody = kEveryShard - 1;

bool writes(Kind kind) { return kind == Kind::write || kind == Kind::write_by_all; }
bool reads(Kind kind) { return kind == Kind::read || kind == Kind::read_by_all; }

bool is_group(const Access& layer) { return layer.users != nullptr && layer.users->is_group(); }

/// Of the points, those that the shard uses.
IndexSpaceRef used_by(ShardId shard, const Users& users, const IndexSpaceRef& points) {
  std::vector<IndexSpaceRef> used;
  for (const Use& use : users.overlapping(points, shard)) used.push_back(use.points);
  return data::unite(points->dim(), used);
}

}  // namespace

// --- who owns and who has what -------------------------------------------------------------------------

/// From the newest layer to the oldest. The answer is by owner; the points that `reader` has are left out.
ByShard Holdings::walk(IndexSpaceRef points, ShardId reader) const {
  const int dim = points->dim();
  ByShard found;
  // Of the points that are still looked for, those of which a newer reduction has left the owner alone as the holder.
  IndexSpaceRef reduced = IndexSpace::empty_space(dim);
  const auto found_everywhere = [&](const IndexSpaceRef& part) {
    if (reader == kNobody) add(found, kEveryShard, data::subtract(part, reduced));
    for (const auto& [home, at_home] : homes(data::intersect(part, reduced)))
      add(found, home, at_home);
  };
  for (const Access& layer : state_.layers | std::views::reverse) {
    const IndexSpaceRef part = data::intersect(points, layer.points);
    if (part->empty()) continue;
    switch (layer.kind) {
      case Kind::reduce: reduced = data::unite(reduced, part); break;
      case Kind::read:
      case Kind::read_by_all: {
        if (reader == kNobody) break;
        IndexSpaceRef has = data::subtract(part, reduced);
        if (layer.kind == Kind::read) has = used_by(reader, *layer.users, has);
        points = data::subtract(points, has);
        break;
      }
      case Kind::write:
      case Kind::write_by_all:
        if (layer.kind == Kind::write_by_all) found_everywhere(part);
        else
          for (const Use& use : layer.users->overlapping(part)) add(found, use.shard, use.points);
        points = data::subtract(points, part);
    }
  }
  found_everywhere(points);
  found.erase(reader);
  return found;
}

ByShard Holdings::owners(const IndexSpaceRef& points) const { return walk(points, kNobody); }

ByShard Holdings::folders(const IndexSpaceRef& points) const {
  ByShard found = owners(points);
  if (const auto all = found.extract(kEveryShard))
    for (const auto& [home, part] : homes(all.mapped())) add(found, home, part);
  return found;
}

ByShard Holdings::missing(const IndexSpaceRef& points, ShardId shard) const {
  return walk(points, shard);
}

namespace {

/// The dimension in which the box is longest: homes are runs of its coordinates.
int dimension_of_homes(const data::Box& all) {
  int longest = 0;
  for (int d = 1; d < 3; ++d)
    if (all.hi[d] - all.lo[d] > all.hi[longest] - all.lo[longest]) longest = d;
  return longest;
}

}  // namespace

data::Box Holdings::home(ShardId shard) const {
  data::Box run = state_.space->bounds();
  const int d = dimension_of_homes(run);
  const auto count = static_cast<std::uint64_t>(run.hi[d] - run.lo[d] + 1);
  run.hi[d] = run.lo[d] + static_cast<Coord>(first_of_run(count, shard + 1, shards_)) - 1;
  run.lo[d] += static_cast<Coord>(first_of_run(count, shard, shards_));
  return run;
}

ByShard Holdings::homes(const IndexSpaceRef& points) const {
  ByShard found;
  if (points->empty()) return found;
  const data::Box &all = state_.space->bounds(), &box = points->bounds();
  const int d = dimension_of_homes(all);
  const auto count = static_cast<std::uint64_t>(all.hi[d] - all.lo[d] + 1);
  const auto shard_of = [&](Coord x) {
    return shard_in_runs(count, static_cast<std::uint64_t>(x - all.lo[d]), shards_);
  };
  for (ShardId shard = shard_of(box.lo[d]); shard <= shard_of(box.hi[d]); ++shard)
    if (const data::Box run = home(shard); !run.empty()) add(found, shard, data::clip(points, run));
  return found;
}

IndexSpaceRef Holdings::candidates() const {
  std::vector<IndexSpaceRef> own;
  if (const data::Box run = home(me_); !state_.space->empty() && !run.empty())
    own.push_back(data::clip(state_.space, run));
  for (const Access& layer : state_.layers)
    if (layer.kind == Kind::write) own.push_back(layer.users->own());
  return data::unite(state_.space->dim(), own);
}

// --- states --------------------------------------------------------------------------------------------

StateRef States::intern(State state) {
  std::uint64_t hash = state.space->id();
  for (const Access& layer : state.layers) {
    const std::uint64_t words[] = {static_cast<std::uint64_t>(layer.kind), layer.points->id(),
                                   reinterpret_cast<std::uintptr_t>(layer.users.get())};
    hash = hash_bytes(words, sizeof words, hash);
  }
  const auto is_it = [&](const State& known) { return known == state; };
  return states_.find_or_make(hash, is_it, state);
}

/// Whether the access leaves owners and holders as they are.
bool States::adds_nothing(const State& state, const Access& access) const {
  IndexSpaceRef rest = access.points;
  for (const Access& layer : state.layers | std::views::reverse) {
    if (rest->empty()) return true;
    if (access.users != nullptr && layer == access) return true;
    if (!data::overlaps(layer.points, rest)) continue;
    switch (access.kind) {
      case Kind::write: return false;
      case Kind::reduce:
        if (layer.kind != Kind::reduce && layer.kind != Kind::write) return false;
        break;
      case Kind::read:
      case Kind::read_by_all:
        if (layer.kind == Kind::read) continue;
        if (layer.kind == Kind::write || layer.kind == Kind::reduce) return false;
        break;
      case Kind::write_by_all:
        if (reads(layer.kind)) continue;
        if (layer.kind != Kind::write_by_all) return false;
    }
    rest = data::subtract(rest, layer.points);
  }
  // In the beginning every shard owns and has everything.
  return rest->empty() || (access.kind != Kind::reduce && access.kind != Kind::write);
}

/// The users of one layer that stands for both; no layer between them touches the newer one's points.
UsersRef States::merge(const Access& older, const Access& newer) {
  if (older.users == nullptr) return nullptr;
  ByShard uses = newer.users->single();
  for (const auto& [shard, points] : older.users->single())
    add(uses, shard, older.kind == Kind::write ? data::subtract(points, newer.points) : points);
  return users_.single(uses, newer.points->dim());
}

/// Merges the layer into the newest of its kind that no layer hides which overlaps it; else it becomes the newest.
void States::put(std::vector<Access>& layers, const Access& layer) {
  if (!is_group(layer))
    for (Access& older : layers | std::views::reverse) {
      if (older.kind == layer.kind && !is_group(older)) {
        older = {layer.kind, data::unite(older.points, layer.points), merge(older, layer)};
        return;
      }
      if (data::overlaps(older.points, layer.points)) break;
    }
  layers.push_back(layer);
}

/// In the older half of a long list reads are forgotten, and groups that write become single launches, which are
/// merged.
void States::simplify(std::vector<Access>& layers) {
  const std::vector<Access> all = std::exchange(layers, {});
  for (std::size_t i = 0; i < all.size(); ++i) {
    Access layer = all[i];
    if (i < all.size() / 2) {
      if (reads(layer.kind)) continue;
      if (is_group(layer)) {
        ByShard uses;
        for (const Use& use : layer.users->overlapping(layer.points))
          add(uses, use.shard, use.points);
        layer = access(layer.kind, users_.single(uses, layer.points->dim()));
      }
    }
    put(layers, layer);
  }
}

StateRef States::after(const StateRef& state, Access access) {
  if (access.kind == Kind::reduce) access.users = nullptr;
  if (access.kind == Kind::read && !access.users->is_group()) {
    // Only what a shard does not have yet.
    ByShard news;
    for (const auto& [shard, points] : access.users->single())
      for (const auto& [owner, part] : Holdings(*state, me_, shards_).missing(points, shard))
        add(news, shard, part);
    access = shard::access(Kind::read, users_.single(news, access.points->dim()));
  }
  if (access.points->empty() || adds_nothing(*state, access)) return state;

  // From the newest to the oldest, what has no effect on any point goes.
  std::vector<Access> kept{access};
  const int dim = access.points->dim();
  IndexSpaceRef written = IndexSpace::empty_space(dim);  // later
  IndexSpaceRef reset = written;                         // of holders: later written or reduced
  IndexSpaceRef held = written;                          // later read by all, or reset
  const auto note = [&](const Access& layer) {
    if (writes(layer.kind)) written = data::unite(written, layer.points);
    if (writes(layer.kind) || layer.kind == Kind::reduce) reset = data::unite(reset, layer.points);
    if (layer.kind != Kind::read) held = data::unite(held, layer.points);
  };
  note(access);
  for (const Access& layer : state->layers | std::views::reverse) {
    const IndexSpaceRef& covering = writes(layer.kind)           ? written
                                    : layer.kind == Kind::reduce ? reset
                                                                 : held;
    const bool repeated = layer.kind == Kind::read && std::ranges::find(kept, layer) != kept.end();
    if (repeated || data::contains(covering, layer.points)) continue;
    kept.push_back(layer);
    note(layer);
  }
  State next{state->space, {}};
  for (const Access& layer : kept | std::views::reverse) put(next.layers, layer);
  if (next.layers.size() > max_layers) simplify(next.layers);
  return intern(std::move(next));
}

}  // namespace refrain::shard
