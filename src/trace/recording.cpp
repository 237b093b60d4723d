#include "trace/recording.hpp"

#include <utility>

#include "analysis/field_state.hpp"

namespace refrain::trace {

Place::Place(analysis::FieldState& of, analysis::EquivalenceSet& at)
    : field(&of), valid(valid_in(at)), set(&at), pending(at.fill != nullptr) {}

bool Place::holds() const { return is_in(*set, analysis::present); }

void describe_work(const Operation& operation, analysis::LoggedOperation& logged) {
  const auto describe = [&logged](const analysis::Instance* source,
                                  const analysis::Instance* target,
                                  const data::IndexSpaceRef& points) {
    logged.field = target->field->name();
    logged.source = source->memory;
    logged.target = target->memory;
    logged.points = points;
  };
  if (const auto* copy = operation.work_as<analysis::CopyPayload>())
    describe(copy->source, copy->target, copy->points);
  else if (const auto* fill = operation.work_as<Fill>())
    describe(fill->target, fill->target, fill->points);
  else if (const auto* fold = operation.work_as<Fold>(); fold != nullptr && !fold->is_given())
    describe(fold->payload.target, fold->payload.target, fold->payload.points);
  else if (const auto* message = operation.work_as<analysis::MessagePayload>())
    describe(message->instance, message->instance, message->points);
}

bool Recording::stale() const {
  // Trees first: the fields of one that is gone are gone.
  if (std::ranges::any_of(trees, &data::UsedTree::is_stale)) return true;
  return std::ranges::any_of(fields, [](const FieldUsed& used) {
    return used.field->next_set() != used.next_set ||
           (!used.own && used.field->instance_epoch() != used.instance_epoch);
  });
}

bool Recording::finds(const FieldUsed& used) const {
  const auto& there = used.field->instances().all();
  if (!used.own || there.size() != used.found) return !used.own;
  auto next = there.begin();
  for (const PerReplayInstance& each : own) {
    if (next == there.end()) break;
    if (each.made != kNone || each.placeholder->field != used.field) continue;
    const analysis::Instance& found = **next;
    if (found.space != each.placeholder->space || found.memory != each.placeholder->memory ||
        found.layout != each.placeholder->layout)
      return false;
    each.placeholder->bound_to = (next++)->get();
  }
  return true;
}

bool Recording::holds() const {
  return std::ranges::all_of(on_shards, &OnShards::holds) &&
         std::ranges::all_of(fields, [this](const FieldUsed& used) { return finds(used); }) &&
         std::ranges::all_of(places, &Place::holds);
}

analysis::Instance* Recording::per_replay_argument(Index operation, std::uint32_t argument) const {
  const auto key = [](const PerReplayArgument& each) {
    return std::pair(each.operation, each.argument);
  };
  const auto found =
      std::ranges::equal_range(per_replay_arguments, std::pair(operation, argument), {}, key);
  return found.empty() ? nullptr : own[found.front().own].placeholder.get();
}

std::size_t Recording::bytes() const {
  const auto of = [](const auto& all) { return all.capacity() * sizeof(all[0]); };
  std::size_t sum = sizeof *this + of(steps) + of(operations) + of(edges) + of(carried) +
                    of(effects) + of(places) + of(entry_uses) + of(fields) + of(trees) + of(own) +
                    of(per_replay_arguments) + of(on_shards) + of(on_shards_after);
  for (const PerReplayInstance& each : own) sum += sizeof *each.placeholder + of(each.users);
  for (const Operation& operation : operations)
    if (operation.work) sum += sizeof(Work);
  for (const Place& place : places)
    if (place.valid.size() > 1) sum += of(place.valid);
  return sum;
}

}  // namespace refrain::trace
