#include "shard/users.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "data/projection.hpp"
#include "refrain/error.hpp"

namespace refrain::shard {

using data::IndexSpaceRef;

Pieces::Pieces(int dim, IndexSpaceRef colours, std::vector<IndexSpaceRef> spaces)
    : dim_(dim),
      colours_(std::move(colours)),
      spaces_(std::move(spaces)),
      boxes_(data::numbered_boxes(spaces_)),
      index_(data::index_of(boxes_)) {
  REFRAIN_ASSERT(spaces_.size() == colours_->volume(), "a piece for each colour");
}

std::vector<std::uint32_t> Pieces::overlapping(const IndexSpaceRef& points) const {
  std::vector<std::uint32_t> ranks;
  for (const data::Box& box : points->boxes())
    index_.find(box, [&](const data::NumberedBox& found) { ranks.push_back(found.number); });
  std::ranges::sort(ranks);
  const auto repeated = std::ranges::unique(ranks);
  ranks.erase(repeated.begin(), repeated.end());
  return ranks;
}

Users::Users(const GroupArgument& argument, ShardId me, ShardId shards)
    : argument_(argument), me_(me) {
  const data::IndexSpace& colours = *argument.pieces->colours();
  first_user_.assign(colours.volume() + 1, 0);
  argument.domain->for_each_point([&](const data::BoxPoint& point) {
    std::uint32_t piece = 0;
    if (argument.partitioned) {
      const Point<3> colour = data::project(argument.projection.impl(), point);
      const auto rank = colours.rank(colour);
      if (!rank)
        throw UsageError(fmt::format("point {} gets colour {} by projection {}: the colours are {}",
                                     data::to_string(point, argument.domain->dim()),
                                     refrain::to_string(colour),
                                     data::describe(argument.projection.impl()),
                                     data::to_string(colours.bounds(), colours.dim())));
      piece = static_cast<std::uint32_t>(*rank);
    }
    const ShardId shard = shard_of(argument.sharding, *argument.domain, point, shards);
    if (shard == me_) own_ranks_.push_back(static_cast<std::uint32_t>(piece_of_.size()));
    piece_of_.push_back(piece);
    shard_of_.push_back(shard);
    ++first_user_[piece + 1];
  });
  std::partial_sum(first_user_.begin(), first_user_.end(), first_user_.begin());
  users_.resize(piece_of_.size());
  std::vector<std::uint32_t> next = first_user_;
  for (std::uint32_t rank = 0; rank < piece_of_.size(); ++rank)
    users_[next[piece_of_[rank]]++] = rank;
  for (std::size_t piece = 0; piece < colours.volume(); ++piece)
    std::ranges::stable_sort(users_of(*this, piece), {}, by_shard());

  std::vector<IndexSpaceRef> used, own;
  for (std::size_t piece = 0; piece < colours.volume(); ++piece)
    if (first_user_[piece] != first_user_[piece + 1])
      used.push_back(argument.pieces->spaces()[piece]);
  for (const std::uint32_t rank : own_ranks_) own.push_back(piece_of(rank));
  points_ = data::unite(argument.pieces->dim(), used);
  own_ = data::unite(argument.pieces->dim(), own);
}

Users::Users(ByShard single, int dim, ShardId me) : single_(std::move(single)), me_(me) {
  std::vector<IndexSpaceRef> all;
  own_ = data::IndexSpace::empty_space(dim);
  for (const auto& [shard, points] : single_) {
    all.push_back(points);
    if (shard == me_) own_ = points;
  }
  points_ = data::unite(dim, all);
}

std::vector<Use> Users::overlapping(const IndexSpaceRef& points,
                                    std::optional<ShardId> shard) const {
  std::vector<Use> found;
  for (const auto& [user, uses] : single_)
    if (!shard || *shard == user)
      if (auto part = data::intersect(points, uses); !part->empty())
        found.push_back({user, 0, std::move(part)});
  if (!is_group()) return found;
  for (const std::uint32_t piece : argument_.pieces->overlapping(points)) {
    IndexSpaceRef part;  // the same for all users of the piece
    const std::span<const std::uint32_t> all = users_of(*this, piece);
    for (const std::uint32_t rank :
         shard ? std::span(std::ranges::equal_range(all, *shard, {}, by_shard())) : all) {
      if (part == nullptr) part = data::intersect(points, argument_.pieces->spaces()[piece]);
      found.push_back({shard_of_[rank], rank, part});
    }
  }
  std::ranges::sort(found, {}, &Use::launch_rank);
  return found;
}

std::vector<Use> Users::own_uses() const {
  std::vector<Use> uses;
  if (!is_group() && !own_->empty()) uses.push_back({me_, 0, own_});
  for (const std::uint32_t rank : own_ranks_)
    if (!piece_of(rank)->empty()) uses.push_back({me_, rank, piece_of(rank)});
  return uses;
}

std::uint64_t Users::assignment() const {
  return hash_bytes(piece_of_.data(), piece_of_.size() * sizeof(std::uint32_t),
                    hash_bytes(shard_of_.data(), shard_of_.size() * sizeof(ShardId)));
}

PiecesRef UserTable::pieces(int dim, const IndexSpaceRef& colours,
                            std::vector<IndexSpaceRef> spaces) {
  std::uint64_t hash = colours->id() + static_cast<std::uint64_t>(dim);
  for (const IndexSpaceRef& space : spaces) {
    const std::uint64_t id = space->id();
    hash = hash_bytes(&id, sizeof id, hash);
  }
  const auto is_it = [&](const Pieces& known) {
    return known.dim() == dim && known.colours() == colours && known.spaces() == spaces;
  };
  return pieces_.find_or_make(hash, is_it, dim, colours, std::move(spaces));
}

UsersRef UserTable::group(const GroupArgument& argument) {
  const std::uint64_t words[] = {reinterpret_cast<std::uintptr_t>(argument.pieces.get()),
                                 argument.partitioned ? 1u : 0u,
                                 data::projection_id(argument.projection.impl()),
                                 argument.domain->id(), argument.sharding.id()};
  const auto is_it = [&](const Users& known) {
    const GroupArgument& other = known.argument();
    return other.pieces == argument.pieces && other.partitioned == argument.partitioned &&
           other.projection.impl() == argument.projection.impl() &&
           other.domain == argument.domain && other.sharding == argument.sharding;
  };
  return users_.find_or_make(hash_bytes(words, sizeof words), is_it, argument, me_, shards_);
}

UsersRef UserTable::single(const ByShard& uses, int dim) {
  auto hash = static_cast<std::uint64_t>(dim);
  for (const auto& [shard, points] : uses) {
    const std::uint64_t words[] = {shard, points->id()};
    hash = hash_bytes(words, sizeof words, hash);
  }
  const auto is_it = [&](const Users& known) {
    return !known.is_group() && known.points()->dim() == dim && known.single() == uses;
  };
  return users_.find_or_make(hash, is_it, uses, dim, me_);
}

}  // namespace refrain::shard
