// A shard's share of a program: its own points, and the two ends of messages. Part of NaiveAnalysis.

#include <algorithm>
#include <tuple>

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
  const std::vector<ResolvedArgument>& arguments = r.points[0].arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    exchange(step, arguments[i], static_cast<int>(i));
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
  if (l.future < 0) return;
  producers_[l.future] = tasks;
  if (l.domain.group || !program_->tasks[static_cast<std::size_t>(l.task)].returns) return;
  if (tasks.empty())
    producers_[l.future] = {add_message(NodeKind::other, Role::receive_future, step.shards[0])};
  else
    edge(tasks[0], add_message(NodeKind::other, Role::send_future, -1),
         "a value is sent after the task that makes it");
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

/// All shards get all values of a group.
void NaiveAnalysis::gather(int future) {
  const std::vector<int>& makers = next_step().shards;
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
