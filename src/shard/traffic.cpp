#include "shard/traffic.hpp"

#include "base/hash.hpp"

namespace refrain::shard {

using data::IndexSpaceRef;

namespace {

/// Of points that this shard owns, what each shard reads, perhaps the same points.
ByShard readers_of(const IndexSpaceRef& owned, const Access& access, ShardId shards) {
  ByShard readers;
  if (access.users == nullptr) {
    if (auto read = data::intersect(owned, access.points); !read->empty())
      for (ShardId shard = 0; shard < shards; ++shard) readers[shard] = read;
  } else {
    for (const Use& use : access.users->overlapping(owned)) add(readers, use.shard, use.points);
  }
  return readers;
}

Traffic traffic_of_read(const Holdings& holdings, const Access& access, ShardId me,
                        ShardId shards) {
  Traffic traffic;
  const IndexSpaceRef& own = access.users == nullptr ? access.points : access.users->own();
  for (const auto& [owner, points] : holdings.missing(own, me))
    traffic.receives.push_back({owner, points});
  const ByShard owners = holdings.owners(data::intersect(holdings.candidates(), access.points));
  const auto owned = owners.find(me);
  if (owned == owners.end()) return traffic;
  for (const auto& [reader, points] : readers_of(owned->second, access, shards))
    for (const auto& [owner, missing] : holdings.missing(points, reader))
      traffic.sends.push_back({reader, missing});
  return traffic;
}

Traffic traffic_of_reduction(const Holdings& holdings, const Access& access, ShardId me) {
  Traffic traffic;
  for (const Use& use : access.users->own_uses())
    for (const auto& [folder, points] : holdings.folders(use.points))
      if (folder != me) traffic.given.push_back({me, folder, use.launch_rank, points});
  const ByShard folders = holdings.folders(data::intersect(holdings.candidates(), access.points));
  if (const auto here = folders.find(me); here != folders.end())
    for (const Use& use : access.users->overlapping(here->second))
      traffic.folded.push_back({use.shard, me, use.launch_rank, use.points});
  return traffic;
}

/// What remembering the points takes.
std::size_t boxes_of(const IndexSpaceRef& points) { return 1 + points->boxes().size(); }

}  // namespace

Traffic traffic_of(const State& state, const Access& access, ShardId me, ShardId shards) {
  const Holdings holdings(state, me, shards);
  switch (access.kind) {
    case Kind::read:
    case Kind::read_by_all: return traffic_of_read(holdings, access, me, shards);
    case Kind::reduce: return traffic_of_reduction(holdings, access, me);
    case Kind::write:
    case Kind::write_by_all: break;
  }
  return {};
}

std::size_t Steps::Hash::operator()(const Key& key) const {
  const std::uint64_t words[] = {reinterpret_cast<std::uintptr_t>(key.state.get()),
                                 reinterpret_cast<std::uintptr_t>(key.access.points.get()),
                                 reinterpret_cast<std::uintptr_t>(key.access.users.get()),
                                 static_cast<std::uint64_t>(key.access.kind)};
  return hash_bytes(words, sizeof words);
}

std::size_t Steps::Hash::operator()(const Question& question) const {
  const std::uint64_t words[] = {reinterpret_cast<std::uintptr_t>(question.state.get()),
                                 reinterpret_cast<std::uintptr_t>(question.points.get()),
                                 question.folders ? 1U : 0U};
  return hash_bytes(words, sizeof words);
}

// Before so much more. All go: which ones will come again, nobody knows.
void Steps::remember(std::size_t boxes) {
  ++misses_;
  boxes_ += boxes;
  if (boxes_ < max_boxes) return;
  steps_.clear();
  answers_.clear();
  boxes_ = 0;
}

// The state by value: it may be that of a step which is forgotten here.
const Step& Steps::take(StateRef state, const Access& access) {
  if (const auto known = steps_.find({state, access}); known != steps_.end()) return known->second;
  Step step{states_.after(state, access), traffic_of(*state, access, me_, shards_)};
  std::size_t boxes = 0;
  for (const Access& layer : step.next->layers) boxes += boxes_of(layer.points);
  for (const Transfer& each : step.traffic.sends) boxes += boxes_of(each.points);
  for (const Transfer& each : step.traffic.receives) boxes += boxes_of(each.points);
  for (const Contribution& each : step.traffic.given) boxes += boxes_of(each.points);
  for (const Contribution& each : step.traffic.folded) boxes += boxes_of(each.points);
  remember(boxes);
  return steps_.emplace(Key{std::move(state), access}, std::move(step)).first->second;
}

const ByShard& Steps::answer(const Question& question) {
  if (const auto known = answers_.find(question); known != answers_.end()) return known->second;
  const Holdings holdings(*question.state, me_, shards_);
  ByShard answer =
      question.folders ? holdings.folders(question.points) : holdings.owners(question.points);
  std::size_t boxes = 0;
  for (const auto& [shard, points] : answer) boxes += boxes_of(points);
  remember(boxes);
  return answers_.emplace(question, std::move(answer)).first->second;
}

}  // namespace refrain::shard
