// A shard's share of a program: its own points, and the two ends of messages. Part of NaiveAnalysis.

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "support/naive_analysis.hpp"
#include "support/naive_traffic.hpp"

namespace refrain::test {

using exec::NodeKind;

NaiveGraph NaiveAnalysis::analyse_share(const std::vector<NaiveStep>& steps, int shard) {
  steps_ = &steps;
  shard_ = shard;
  return analyse();
}

const NaiveStep& NaiveAnalysis::next_step() { return steps_->at(next_step_++); }

int NaiveAnalysis::add_message(NodeKind kind, Role role, int peer) {
  NaiveOperation operation;
  operation.kind = kind;
  operation.role = role;
  operation.peer = peer;
  return add(operation);
}

/// What others read of an argument is sent, and what is missing here is received.
void NaiveAnalysis::exchange(const NaiveStep& step, const ResolvedArgument& argument,
                             int position) {
  for (const bool sends : {true, false})
    for (const NaiveStep::Values& values : step.values) {
      if (values.argument != position || (sends ? values.from : values.to) != shard_) continue;
      ResolvedArgument moved = argument;
      moved.points = values.points;
      moved.privilege = sends ? Privilege::read : Privilege::write;
      moved.relaxed = false;
      widen(moved, moved.points);
      const Use whole{&moved, position, main_memory_instance(moved)};
      if (sends) make_valid(whole, 0);
      const MemoryId memory = instances_[static_cast<std::size_t>(whole.instance)].memory;
      for (int i = 0; i < max_points; ++i) {
        if (!has(values.points, i)) continue;
        ResolvedArgument at = moved;
        at.points = Mask{1} << i;
        const int operation =
            add({NodeKind::copy, 0, 0, position, argument.tree, argument.field, memory, memory,
                 at.points, nullptr, sends ? Role::send : Role::receive,
                 sends ? values.to : values.from});
        use(operation, {&at, position, whole.instance});
      }
    }
}

void NaiveAnalysis::launch_share(const Resolved& r) {
  const NaiveStep& step = next_step();
  receive_values(step);
  const std::vector<ResolvedArgument>& arguments = r.points[0].arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Mask own = 0;
    for (std::size_t rank = 0; rank < r.points.size(); ++rank)
      if (step.shards[rank] == shard_) own |= r.points[rank].arguments[i].points;
    widen(arguments[i], own);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i)
    exchange(step, arguments[i], static_cast<int>(i));
  for (const NaiveStep::Contribution& each : step.contributions)
    if (each.to == shard_) widen(arguments[static_cast<std::size_t>(each.argument)], each.points);
  // By argument and sender; then the folds in launch order, between the own points.
  std::vector<const NaiveStep::Contribution*> brought;
  for (const NaiveStep::Contribution& each : step.contributions)
    if (each.to == shard_ && each.from != shard_) brought.push_back(&each);
  std::ranges::stable_sort(brought, {},
                           [](const auto* each) { return std::pair(each->argument, each->from); });
  std::map<const NaiveStep::Contribution*, int> takes;
  for (const NaiveStep::Contribution* each : brought) {
    takes[each] = add_message(NodeKind::other, Role::take, each->from);
    NaiveOperation& take = graph_.operations.back();
    take.argument = each->argument;
    take.part = each->rank;
  }
  std::ranges::stable_sort(brought, {},
                           [](const auto* each) { return std::pair(each->rank, each->argument); });
  std::size_t next = 0;
  const auto fold_before = [&](std::size_t rank) {
    for (; next < brought.size() && brought[next]->rank < rank; ++next) {
      const NaiveStep::Contribution& each = *brought[next];
      ResolvedArgument part =
          r.points[each.rank].arguments[static_cast<std::size_t>(each.argument)];
      part.points = each.points;
      fold({&part, each.argument, main_memory_instance(part)}, takes.at(&each), each.rank);
    }
  };
  std::vector<int> tasks;
  for (std::size_t rank = 0; rank < r.points.size(); ++rank) {
    if (step.shards[rank] != shard_) continue;
    fold_before(rank);
    tasks.push_back(point_task(r, rank, tasks.size()));
  }
  fold_before(r.points.size());
  const LaunchSpec& l = r.spec.launch;
  if (l.future >= 0) producers_[l.future] = tasks;
}

/// Values that one shard has had so far go to all.
void NaiveAnalysis::receive_values(const NaiveStep& step) {
  for (const NaiveStep::Sent& sent : step.sent) {
    for (int peer = 0; peer < sent.shards; ++peer)
      if (std::ranges::count(passed_on(peer, sent.from, sent.shards), shard_) != 0)
        producers_[sent.future] = {add_message(NodeKind::other, Role::receive_future, peer)};
    if (passed_on(shard_, sent.from, sent.shards).empty()) continue;
    const int message = add_message(NodeKind::other, Role::send_future, sent.from);
    for (const int producer : producers_[sent.future])
      edge(producer, message, "a value is sent after what makes it, or brings it");
  }
}

/// What comes from the shards below, and what is made of it and of own values: the result, or what goes above.
void NaiveAnalysis::reduce_share(const Resolved& r, const NaiveStep& step) {
  std::vector<int> have = producers_[r.spec.future];
  for (int bit = 1; (shard_ & bit) == 0 && shard_ + bit < step.together; bit *= 2)
    have.push_back(add_message(NodeKind::other, Role::receive_future, shard_ + bit));
  const Role role = shard_ == 0 ? Role::call : Role::send_result;
  const int result = add_message(NodeKind::other, role, shard_ == 0 ? -1 : shard_ & (shard_ - 1));
  for (const int value : have)
    edge(value, result, "a reduction of futures comes after what it is made of");
  producers_[r.spec.id].clear();
  if (shard_ == 0) producers_[r.spec.id].push_back(result);
}

// --- what instances of a whole field have room for -----------------------------------------------------

namespace {

Rect<3> bounds_of(const Shape& shape, Mask points) {
  std::optional<Rect<3>> bounds;
  for (std::size_t i = 0; i < shape.points.size(); ++i) {
    if (!has(points, static_cast<int>(i))) continue;
    const Point<3>& p = shape.points[i];
    if (!bounds) bounds = Rect<3>{p, p};
    for (int d = 0; d < 3; ++d) {
      bounds->lo[d] = std::min(bounds->lo[d], p[d]);
      bounds->hi[d] = std::max(bounds->hi[d], p[d]);
    }
  }
  return bounds.value();
}

}  // namespace

Mask NaiveAnalysis::extent(const ResolvedArgument& argument) {
  const Shape& shape = program_->shape(argument.tree);
  if (steps_ == nullptr) return shape.all();
  const std::optional<Rect<3>>& box = extents_[{argument.tree, argument.field}].box;
  Mask points = 0;
  for (std::size_t i = 0; box && i < shape.points.size(); ++i)
    if (box->contains(shape.points[i])) points |= Mask{1} << i;
  return points;
}

/// The box grows to the points, after four times by as much as there is at least.
void NaiveAnalysis::note_use(const ResolvedArgument& argument) {
  if (steps_ == nullptr || argument.points == 0) return;
  const Shape& shape = program_->shape(argument.tree);
  const Rect<3> used = bounds_of(shape, argument.points), all = bounds_of(shape, shape.all());
  Extent& extent = extents_[{argument.tree, argument.field}];
  if (!extent.box) {
    extent.box = used;
    ++extent.widened;
    return;
  }
  const Rect<3> had = *extent.box;
  for (int d = 0; d < shape.dim; ++d) {
    const Coord more = extent.widened < 4 ? 0 : had.hi[d] - had.lo[d] + 1;
    if (used.lo[d] < had.lo[d])
      extent.box->lo[d] = std::max(all.lo[d], std::min(used.lo[d], had.lo[d] - more));
    if (used.hi[d] > had.hi[d])
      extent.box->hi[d] = std::min(all.hi[d], std::max(used.hi[d], had.hi[d] + more));
  }
  if (*extent.box == had) return;
  ++extent.widened;
  extent.grown = true;
}

/// Instances that have become too small are replaced. What is valid nowhere else is copied.
void NaiveAnalysis::widen(ResolvedArgument argument, Mask points) {
  argument.points = points;
  note_use(argument);
  Extent& extent = extents_[{argument.tree, argument.field}];
  if (!std::exchange(extent.grown, false)) return;
  argument.points = this->extent(argument);
  const auto next = [&](std::optional<std::size_t> like) {
    std::size_t i = 0;
    for (; i < instances_.size(); ++i) {
      const Instance& is = instances_[i];
      const bool small = is.alive && !is.given && is.whole && is.owner == argument.tree &&
                         is.field == argument.field && (argument.points & ~is.points) != 0;
      if (small &&
          (!like || (is.memory == instances_[*like].memory && is.order == instances_[*like].order &&
                     is.sparse == instances_[*like].sparse)))
        break;
    }
    return i;
  };
  for (std::size_t first; (first = next({})) < instances_.size();) {
    const Instance is = instances_[first];
    const Placement::Argument where{is.memory, {},        refrain::Extent::whole,
                                    is.order,  is.sparse, WhenFull::evict};
    const int larger = try_memory(argument, where, where.memory, WhenFull::evict);
    const int victim = static_cast<int>(next(first));
    for (int i = 0; i < max_points; ++i) {
      if (!has(argument.points, i)) continue;
      const PointState& at = state(argument, i);
      if (at.fill_pending || at.valid != std::set{victim}) continue;
      copy_point(argument, i, victim, larger, 0, -1);
    }
    release(victim);
  }
}

/// What a point contributes here is folded, the rest is given away.
void NaiveAnalysis::fold_share(const Use& u, int task, std::size_t rank, const NaiveStep& step) {
  if (u.argument->points == 0) {
    fold(u, task, rank);
    return;
  }
  for (const bool gives : {true, false})
    for (const NaiveStep::Contribution& each : step.contributions) {
      if (each.rank != rank || each.argument != u.position || (each.to != shard_) != gives)
        continue;
      if (!gives) {
        ResolvedArgument part = *u.argument;
        part.points = each.points;
        fold({&part, u.position, u.instance}, task, rank);
        continue;
      }
      const int give = add_message(NodeKind::other, Role::give, each.to);
      NaiveOperation& added = graph_.operations.back();
      added.rank = added.part = rank;
      added.argument = u.position;
      edge(task, give, "a contribution is given away after its task");
    }
}

/// All shards get all values.
void NaiveAnalysis::gather(int future) {
  const NaiveStep& step = next_step();
  receive_values(step);
  const std::vector<int>& makers = step.shards;
  if (makers.empty()) return;
  std::vector<int> have;
  if (!producers_[future].empty()) {
    have.push_back(add_message(NodeKind::other, Role::send_future, -1));
    for (const int producer : producers_[future])
      edge(producer, have[0], "values are sent after the tasks that make them");
  }
  for (int peer = 0; peer <= std::ranges::max(makers); ++peer)
    if (peer != shard_ && std::ranges::count(makers, peer) != 0)
      have.push_back(add_message(NodeKind::other, Role::receive_future, peer));
  producers_[future] = have;
}

}  // namespace refrain::test
