#include "replay/replay_reasons.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/field_state.hpp"
#include "base/assert.hpp"
#include "data/index_space.hpp"
#include "launch/call_identity.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

namespace {

std::string name_of(const RecordedCall& call) {
  if (call.plan != nullptr) return exec::launch_name(call.info->name, call.info->where);
  return call.info->name + " at " + to_string(call.info->where);
}

std::string name_of(const TracedCall& call) {
  return call.request != nullptr ? launch_name(*call.request)
                                 : call.name + (" at " + to_string(call.where));
}

std::string describe(const std::string& data, std::string_view field, Privilege privilege) {
  return fmt::format("{}, field '{}', {}", data, field, to_string(privilege));
}

/// `words`: the argument's in the key of the recorded launch.
std::string argument_difference(const RecordedCall& expected, const LaunchRequest& request,
                                std::size_t i, std::span<const std::uint64_t> words) {
  const PlannedRequirement& planned = expected.plan->requirements[i];
  const Requirement& asked = request.requirements[i];
  const bool partitioned = asked.partition.tree != nullptr;
  const std::string then =
      describe(name_in_key(*planned.tree, words), planned.field, planned.privilege);
  const std::string now = describe(partitioned ? asked.partition.name() : asked.region.name(),
                                   asked.field.name, asked.privilege);
  if (then == now)
    return fmt::format("argument {}, {}: its projection, operator or order of folding", i, now);
  return fmt::format("argument {}: expected {}; found {}", i, then, now);
}

std::string domain_difference(const LaunchPlan& plan, const LaunchDomain* domain) {
  const std::string single = "a single launch";
  return fmt::format("its domain: expected {}; found {}",
                     plan.group ? data::to_string(*plan.points.domain) : single,
                     domain == nullptr           ? single
                     : domain->sparse != nullptr ? data::to_string(*domain->sparse->space)
                                                 : data::to_string(domain->rect, domain->dim));
}

/// In what two calls differ whose name and source line are the same.
std::string difference(const RecordedCall& expected, const TracedCall& came) {
  if (std::ranges::equal(expected.key, came.key))
    return expected.has_values == came.has_values ? "the calls that make its futures"
                                                  : "whether it has by-value arguments";
  if (came.request == nullptr) return "what it works on";
  const LaunchRequest& request = *came.request;
  // Of a mapper that is asked each time: the key is what it said.
  if (expected.plan->number != 0) return "its arguments, or what the mapper said of it";
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(expected.key, came.key).in2 -
                                           came.key.begin());
  const auto differs = [&](std::uint64_t bits) {
    return at < came.key.size() && ((expected.key[at] ^ came.key[at]) & bits) != 0;
  };
  const auto [part, argument] = part_of_key(request, at);
  switch (part) {
    case LaunchPart::task: return "its task: another one of this name";
    case LaunchPart::hints:
      if (differs(kPriorityInKey)) return "its priority";
      return differs(kInlineInKey) ? "its hint inline_if_ready" : "how many futures it is given";
    case LaunchPart::counts:
      if (differs(kGroupInKey)) return domain_difference(*expected.plan, request.domain);
      return differs(kResultInKey) ? "whether its future is kept"
                                   : "the number of its region arguments";
    case LaunchPart::mapper: return "its mapping: the mapper has forgotten what it said";
    default: break;
  }
  if (part == LaunchPart::domain || expected.key.size() != came.key.size())
    return domain_difference(*expected.plan, request.domain);
  const std::size_t first =
      came.key.size() - kKeyWordsOfArgument * (request.requirements.size() - argument);
  return argument_difference(expected, request, argument,
                             std::span(expected.key).subspan(first, kKeyWordsOfArgument));
}

std::string names_of(const trace::Instances& valid, const Machine& machine) {
  std::string names;
  for (const analysis::Instance* instance : valid)
    names += fmt::format("{}{} (room for {})", names.empty() ? "valid in " : " and ",
                         machine.memory(instance->memory).name, data::to_string(*instance->space));
  return names.empty() ? "valid nowhere" : names;
}

std::string describe(const trace::Place& place, const Machine& machine) {
  const auto state = [&](const trace::Instances& valid, bool pending) {
    return names_of(valid, machine) + (pending ? ", a fill pending" : "");
  };
  return fmt::format("{}, points {}: expected {}, found {}", place.field->describe(),
                     data::to_string(*place.field->points_of(*place.set)),
                     state(place.valid, place.pending),
                     state(trace::valid_in(*place.set), place.set->fill != nullptr));
}

}  // namespace

Reason other_call(const RecordedCall& expected, const TracedCall& came) {
  const std::string before = name_of(expected), now = name_of(came);
  if (before != now)
    return {"another call: expected " + before + ", found " + now, true, expected.mapped_token};
  return {"the call has changed: " + now + " differs in " + difference(expected, came), true,
          expected.mapped_token};
}

Reason beyond_the_end(const std::string& ended_by, const TracedCall& came) {
  return {"the recording ends before " + name_of(came) + ": " + ended_by, true};
}

Reason left_before(const TracedCall& came, const std::string& what) {
  return {"the replay was left before " + name_of(came) + ": " + what, true};
}

Reason no_room(const analysis::Instance& wanted, const Machine& machine) {
  return {"there was no room in " + machine.memory(wanted.memory).name + " for " +
          wanted.field->describe()};
}

Reason other_state(const trace::Recording& recording, const Machine& machine) {
  const std::string begin = "the data is not where it was when this was recorded: ";
  const trace::FieldUsed* other = nullptr;
  for (const trace::FieldUsed& used : recording.fields)
    if (!recording.finds(used) && (other == nullptr || other->found == 0)) other = &used;
  // Where there was no storage, what is there now tells more.
  const auto broken = std::ranges::find_if_not(recording.places, &trace::Place::holds);
  if (broken != recording.places.end() && (other == nullptr || other->found == 0))
    return {begin + describe(*broken, machine), true};
  if (other == nullptr) {
    const auto moved = std::ranges::find_if_not(recording.on_shards, &trace::OnShards::holds);
    REFRAIN_ASSERT(moved != recording.on_shards.end(),
                   "a precondition that does not hold says where");
    return {begin + moved->field->describe() + " is on other ranks", true};
  }
  return {begin + other->field->describe() + " has other storage", true};
}

Reason slower_by_replaying() {
  return {"replaying took longer than the analysis: what was replayed at a time was too short",
          true};
}

Reason stale(const trace::Recording& recording) {
  const std::string begin = "what was recorded is stale: ";
  for (const data::UsedTree& used : recording.trees) {
    const std::string region = "region " + std::to_string(used.tree->slot());
    if (!used.tree->alive()) return {begin + region + " was destroyed"};
    if (used.is_stale())
      return {begin + fmt::format("partitions of {} were forgotten, or it was destroyed", region)};
  }
  for (const trace::FieldUsed& used : recording.fields) {
    if (used.field->next_set() != used.next_set)
      return {begin + used.field->describe() + " was cut into other equivalence sets", true};
    if (!used.own && used.field->instance_epoch() != used.instance_epoch)
      return {begin + "storage of " + used.field->describe() + " was given up, or came", true};
  }
  REFRAIN_ASSERT(false, "what is stale names something that has changed");
}

std::string not_looked_for(const Options& options) {
  const std::string begin = "no trace was open, and ";
  if (!options.tracing) return begin + "--refrain:tracing is off";
  if (!options.autotrace) return begin + "--refrain:autotrace is off";
  return begin + "the first launches of a task are not looked at";
}

}  // namespace refrain::runtime
