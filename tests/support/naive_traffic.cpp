#include "support/naive_traffic.hpp"

#include <algorithm>
#include <set>

#include "support/some_sharding.hpp"

namespace refrain::test {

namespace {

using MessageKind = NaiveMessage::Kind;
constexpr std::size_t future_bytes = 16;  // whether it failed, and 8 bytes

data::IndexSpaceRef domain_of(const DomainSpec& spec) {
  std::vector<data::BoxPoint> points;
  if (!spec.dense) {
    for (const Point<3>& p : spec.points) points.push_back(p);
    return data::IndexSpace::from_points(spec.dim, points);
  }
  return data::IndexSpace::dense(spec.dim, {spec.points.front(), spec.points.back()});
}

}  // namespace

data::IndexSpaceRef NaiveTraffic::points(const ResolvedArgument& argument) const {
  const Shape& shape = program_->shape(argument.tree);
  std::vector<data::BoxPoint> points;
  for (std::size_t i = 0; i < shape.points.size(); ++i)
    if (has(argument.points, static_cast<int>(i))) points.push_back(shape.points[i]);
  return data::IndexSpace::from_points(shape.dim, points);
}

template <class Points>
Mask NaiveTraffic::mask(const ResolvedArgument& argument, const Points& points) const {
  Mask mask = 0;
  for (const data::BoxPoint& p : points) mask |= Mask{1} << program_->shape(argument.tree).find(p);
  return mask;
}

std::size_t NaiveTraffic::value_size(const ResolvedArgument& argument) const {
  return size_of(program_->shape(argument.tree).fields[static_cast<std::size_t>(argument.field)]);
}

NaiveHoldings& NaiveTraffic::state(const ResolvedArgument& argument) {
  const auto found = states_.find({argument.tree, argument.field});
  if (found != states_.end()) return found->second;
  ResolvedArgument all = argument;
  all.points = program_->shape(argument.tree).all();
  return states_
      .emplace(std::pair(argument.tree, argument.field), NaiveHoldings(points(all), shards_))
      .first->second;
}

NaiveMessages NaiveTraffic::messages() {
  for (const Resolved& r : program_->statements) perform(r);
  for (const Detached& end : program_->left) detach(end.id);
  return std::move(messages_);
}

void NaiveTraffic::perform(const Resolved& r) {
  using Call = Statement::Kind;
  switch (r.spec.kind) {
    case Call::launch: launch(r); break;
    case Call::fill_future:
      steps_.emplace_back();
      send_to_all(r.spec.future);
      write_by_all(r.target);
      break;
    case Call::fill: write_by_all(r.target); break;
    case Call::copy: copy(r); break;
    case Call::access:
      steps_.emplace_back();
      if (reads(r.target.privilege)) read_by_all(r.target);
      if (writes(r.target.privilege)) write_by_all(r.target);
      break;
    case Call::partition:
      if (!by_data(r.spec.partition.op)) break;
      steps_.emplace_back();
      read_by_all(r.source);
      break;
    case Call::attach: attach(r); break;
    case Call::detach:
    case Call::destroy_region:
      for (const Detached& end : r.detached) detach(end.id);
      break;
    case Call::reduce:
      steps_.emplace_back();
      if (const auto map = makers_.find(r.spec.future); map != makers_.end()) {
        reduce_together(map->second);
        homes_[r.spec.id] = 0;
      }
      break;
    case Call::get: {  // the first time that the values are asked for
      NaiveStep& step = steps_.emplace_back();
      send_to_all(r.spec.future);
      const auto map = makers_.find(r.spec.future);
      if (map == makers_.end()) break;
      step.shards = std::move(map->second);
      makers_.erase(map);
      for (int shard = 0; shard < shards_; ++shard)
        if (const auto own = std::ranges::count(step.shards, shard))
          broadcast(shard, static_cast<std::uint64_t>(own));
      break;
    }
    default: break;
  }
}

void NaiveTraffic::attach(const Resolved& r) {
  Attached& made = attached_[r.spec.id] = {r.target, {}};
  if (!r.spec.target.partitioned) return write_by_all(r.target);
  NaiveStep& step = steps_.emplace_back();
  const ResolvedPartition& by = r.partition;
  const Point<3> last{by.colours[0] - 1, by.colours[1] - 1, by.colours[2] - 1};
  const data::IndexSpaceRef colours = data::IndexSpace::dense(by.colour_dim, {{0, 0, 0}, last});
  const shard::Sharding sharding = sharding_(attached_name, colours);
  for (std::size_t piece = 0; piece < by.pieces.size(); ++piece) {
    const int shard =
        static_cast<int>(shard::shard_of(sharding, *colours, by.colour(static_cast<int>(piece)),
                                         static_cast<shard::ShardId>(shards_)));
    step.shards.push_back(shard);
    ResolvedArgument part = r.target;
    part.points = by.pieces[piece];
    made.pieces.push_back({shard, points(part)});
    state(part).write(shard, points(part));
  }
}

void NaiveTraffic::detach(int id) {
  const Attached& ended = attached_.at(id);
  steps_.emplace_back();
  if (ended.pieces.empty()) read_by_all(ended.argument);
  else read(ended.argument, 0, ended.pieces);
  write_by_all(ended.argument);
}

// Counted from the one that has it, a shard sends to those that differ from it in one bit below its lowest.
std::vector<int> passed_on(int shard, int from, int shards) {
  const int number = (shard - from + shards) % shards;
  std::vector<int> peers;
  for (int bit = 1; (number & bit) == 0 && number + bit < shards; bit *= 2)
    peers.push_back((number + bit + from) % shards);
  return peers;
}

/// `values`: how many.
void NaiveTraffic::broadcast(int shard, std::uint64_t values) {
  for (int peer = 0; peer < shards_; ++peer)
    if (peer != shard)
      messages_[{shard, peer}].push_back({MessageKind::future, 0, values * future_bytes});
}

void NaiveTraffic::send_to_all(int future) {
  const auto home = homes_.find(future);
  if (home == homes_.end()) return;
  for (int shard = 0; shard < shards_; ++shard)
    for (const int peer : passed_on(shard, home->second, shards_))
      messages_[{shard, peer}].push_back({MessageKind::future, 0, future_bytes});
  steps_.back().sent.push_back({future, home->second, shards_});
  homes_.erase(home);
}

namespace {

/// The largest subtrees of the fixed tree over the points first .. last - 1 of which all are there.
std::uint64_t subtrees(const std::vector<bool>& there, std::size_t first, std::size_t last) {
  const auto begin = there.begin() + static_cast<std::ptrdiff_t>(first),
             end = there.begin() + static_cast<std::ptrdiff_t>(last);
  if (std::find(begin, end, true) == end) return 0;
  if (std::find(begin, end, false) == end) return 1;
  const std::size_t middle = first + (last - first) / 2;
  return subtrees(there, first, middle) + subtrees(there, middle, last);
}

}  // namespace

/// Each shard but the first sends the results of subtrees that it and those below it have. `makers`: the shard of each point.
void NaiveTraffic::reduce_together(const std::vector<int>& makers) {
  steps_.back().together = shards_;
  for (int shard = 1; shard < shards_; ++shard) {
    const int end = shard + (shard & -shard);  // the first that is not below
    std::vector<bool> there;
    there.reserve(makers.size());
    for (const int maker : makers) there.push_back(maker >= shard && maker < end);
    messages_[{shard, shard & (shard - 1)}].push_back(
        {MessageKind::future, 0, 8 + subtrees(there, 0, there.size()) * (8 + future_bytes)});
  }
}

void NaiveTraffic::read_by_all(const ResolvedArgument& argument) {
  std::vector<User> users;
  users.reserve(static_cast<std::size_t>(shards_));
  for (int shard = 0; shard < shards_; ++shard) users.push_back({shard, points(argument)});
  read(argument, 0, users);
}

void NaiveTraffic::write_by_all(const ResolvedArgument& argument) {
  state(argument).write(NaiveHoldings::every, points(argument));
}

void NaiveTraffic::read(const ResolvedArgument& argument, std::uint32_t number,
                        const std::vector<User>& users) {
  NaiveHoldings& holdings = state(argument);
  std::map<std::pair<int, int>, std::set<data::BoxPoint>> sent;
  for (const User& user : users)
    for (const auto& [owner, missing] : holdings.read(user.shard, user.points))
      sent[{owner, user.shard}].insert(missing.begin(), missing.end());
  for (const auto& [pair, points] : sent) {
    messages_[pair].push_back({MessageKind::values, number, points.size() * value_size(argument)});
    steps_.back().values.push_back(
        {pair.first, pair.second, static_cast<int>(number), mask(argument, points)});
  }
  for (const User& user : users) holdings.note_read(user.shard, user.points);
}

void NaiveTraffic::reduce(const ResolvedArgument& argument, std::uint32_t number,
                          const std::vector<User>& users) {
  NaiveHoldings& holdings = state(argument);
  std::map<std::pair<int, int>, std::uint64_t> given;
  for (std::size_t rank = 0; rank < users.size(); ++rank) {
    const User& user = users[rank];
    std::map<int, NaiveHoldings::Points> by_folder;
    user.points->for_each_point(
        [&](const data::BoxPoint& p) { by_folder[holdings.folder(p)].push_back(p); });
    for (const auto& [folder, points] : by_folder) {
      steps_.back().contributions.push_back(
          {user.shard, folder, static_cast<int>(number), rank, mask(argument, points)});
      if (folder != user.shard) given[{user.shard, folder}] += points.size() * value_size(argument);
    }
  }
  for (const auto& [pair, bytes] : given)
    messages_[pair].push_back({MessageKind::contributions, number, bytes});
  for (const User& user : users) holdings.reduce(user.points);
}

/// Where most of what it writes is, or else of what it reads.
int NaiveTraffic::place(const std::vector<ResolvedArgument>& arguments) {
  std::map<int, std::size_t> written, read;
  for (const ResolvedArgument& a : arguments)
    points(a)->for_each_point([&](const data::BoxPoint& p) {
      ++(a.privilege == Privilege::read ? read : written)[state(a).folder(p)];
    });
  const auto& sums = written.empty() ? read : written;
  int most = sums.empty() ? 0 : sums.begin()->first;
  for (const auto& [shard, sum] : sums)
    if (sum > sums.at(most)) most = shard;
  return most;
}

std::vector<int> NaiveTraffic::shards_of(const Resolved& r) {
  const LaunchSpec& l = r.spec.launch;
  if (!l.domain.group) return {place(r.points[0].arguments)};
  const data::IndexSpaceRef domain = domain_of(l.domain);
  const shard::Sharding sharding = sharding_("t" + std::to_string(l.task), domain);
  std::vector<int> shards;
  shards.reserve(r.points.size());
  for (const PointTask& task : r.points)
    shards.push_back(static_cast<int>(
        shard::shard_of(sharding, *domain, task.point, static_cast<shard::ShardId>(shards_))));
  return shards;
}

void NaiveTraffic::launch(const Resolved& r) {
  const LaunchSpec& l = r.spec.launch;
  const std::vector<int> shards = shards_of(r);
  steps_.emplace_back().shards = shards;
  for (const int future : l.futures) {
    const auto home = homes_.find(future);
    if (home != homes_.end() && (l.domain.group || home->second != shards[0])) send_to_all(future);
  }
  const auto each = [&](auto wanted, auto act) {
    for (std::size_t i = 0; i < r.points[0].arguments.size(); ++i) {
      const ResolvedArgument& argument = r.points[0].arguments[i];
      if (!wanted(argument.privilege)) continue;
      std::vector<User> users;
      for (std::size_t rank = 0; rank < shards.size(); ++rank)
        users.push_back({shards[rank], points(r.points[rank].arguments[i])});
      act(argument, static_cast<std::uint32_t>(i), users);
    }
  };
  each([](Privilege p) { return reads(p); },
       [this](const auto& a, auto i, const auto& users) { read(a, i, users); });
  each([](Privilege p) { return writes(p) && p != Privilege::reduce; },
       [this](const auto& a, auto, const auto& users) {
         for (const User& user : users) state(a).write(user.shard, user.points);
       });
  each([](Privilege p) { return p == Privilege::reduce; },
       [this](const auto& a, auto i, const auto& users) { reduce(a, i, users); });
  if (l.future < 0 || !program_->tasks[static_cast<std::size_t>(l.task)].returns) return;
  if (l.domain.group) makers_[l.future] = shards;
  else homes_[l.future] = shards[0];
}

void NaiveTraffic::copy(const Resolved& r) {
  NaiveStep& step = steps_.emplace_back();
  if (r.source.tree == r.target.tree && r.source.field == r.target.field) return;
  std::map<int, std::vector<data::BoxPoint>> owners;
  points(r.target)->for_each_point(
      [&](const data::BoxPoint& p) { owners[state(r.source).owner(p)].push_back(p); });
  for (const auto& [owner, points] : owners) {
    step.copied[owner] = mask(r.target, points);
    state(r.target).write(
        owner, data::IndexSpace::from_points(program_->shape(r.target.tree).dim, points));
  }
}

}  // namespace refrain::test
