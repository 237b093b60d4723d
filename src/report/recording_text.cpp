// Recordings as text.

#include <algorithm>
#include <ostream>
#include <vector>

#include "analysis/field_state.hpp"
#include "launch/launch_plan.hpp"
#include "refrain/machine.hpp"
#include "report/listeners.hpp"
#include "trace/graph_calculus.hpp"
#include "trace/optimiser.hpp"
#include "trace/outcome.hpp"
#include "trace/recorded_call.hpp"
#include "trace/recording.hpp"

namespace refrain::runtime {

namespace {

using trace::Index;
using Recorded = Listener::Recorded;

void append(std::string& list, const std::string& text) {
  if (!list.empty()) list += ", ";
  list += text;
}

/// "[3]", "[0..3]", "{[0..3], [8..9]}".
std::string text_of(const data::IndexSpace& points) {
  if (points.volume() != 1) return data::to_string(points);
  return "[" + data::to_string(points.nth(0), points.dim()) + "]";
}

/// What regions and instances are called in one recording.
class Names {
 public:
  Names(const trace::Recording& recording, const Machine& machine)
      : recording_(recording), machine_(machine) {}

  [[nodiscard]] std::string of(const analysis::FieldState& field,
                               const data::IndexSpaceRef& points) const {
    std::string name = field.name();
    const auto same_name = [&](const trace::FieldUsed& used) {
      return used.field != &field && used.field->name() == field.name();
    };
    if (std::ranges::any_of(recording_.fields, same_name) && field.tree() != nullptr)
      name += "@" + std::to_string(field.tree()->slot());
    return points == field.space() ? name : name + text_of(*points);
  }
  [[nodiscard]] std::string of(const analysis::Instance& instance,
                               const data::IndexSpaceRef& points) const {
    std::string name = of(*instance.field, points) + "^" + machine_.memory(instance.memory).name;
    const auto beside = [&instance](const analysis::Instance& other) {
      return &other != &instance && other.field == instance.field &&
             other.memory == instance.memory;
    };
    const auto at = [](const auto& owned) -> const analysis::Instance& { return *owned; };
    const bool several = recording_.per_replay_of(&instance) != nullptr
                             ? std::ranges::any_of(
                                   recording_.own, beside,
                                   [](const auto& own) -> const auto& { return *own.placeholder; })
                             : std::ranges::any_of(instance.field->instances().all(), beside, at);
    if (several) name += "." + std::to_string(instance.number);
    return name;
  }

 private:
  const trace::Recording& recording_;
  const Machine& machine_;
};

std::string task_text(const Recorded& printed, Index index, const Names& names) {
  const trace::Operation& operation = printed.recording.operations[index];
  LaunchPlan& plan = *printed.calls[operation.step]->plan;
  std::string arguments;
  const auto all = plan.arguments_of(operation.rank);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const PlannedArgument& argument = all[i];
    // A task that reduces has an accumulator, which its fold brings home.
    if (argument.privilege == Privilege::reduce)
      append(arguments, std::string(plan.requirements[i].op->name) + " " +
                            names.of(*argument.field, argument.points));
    else if (const auto* own = printed.recording.per_replay_argument(index, i))
      append(arguments, names.of(*own, argument.points));
    else append(arguments, names.of(*argument.instance, argument.points));
  }
  return plan.info.name + "(" + arguments + ")";
}

std::string text_of(Index index, const Recorded& printed, const Names& names) {
  const trace::Operation& operation = printed.recording.operations[index];
  if (operation.kind == exec::NodeKind::task) return task_text(printed, index, names);
  if (const auto* copy = std::get_if<analysis::CopyPayload>(&operation.work))
    return "copy(" + names.of(*copy->target, copy->points) + ", " +
           names.of(*copy->source, copy->points) + ")";
  if (const auto* fill = std::get_if<trace::Fill>(&operation.work))
    return "fill(" + names.of(*fill->target, fill->points) + ")";
  if (const auto* fold = std::get_if<trace::Fold>(&operation.work))
    return "fold(" + names.of(*fold->payload.target, fold->payload.points) + ")";
  return operation.info->name + "()";
}

trace::RecordingGraph graph_of(const Recorded& printed, const Names& names) {
  const trace::Recording& recording = printed.recording;
  trace::RecordingGraph graph;
  for (Index i = 0; i < recording.operations.size(); ++i)
    graph.operations.push_back({text_of(i, printed, names), recording.operations[i].step, false});
  for (const trace::EntryUse& use : recording.entry_uses)
    graph.operations[use.operation].entered = true;
  graph.edges = {recording.edges, recording.carried};
  graph.idempotent = recording.idempotent;
  return graph;
}

/// "state[0..3] -> state[0..3]^sys0": where the latest values are.
template <class Instances>
std::string condition(const trace::Place& place, const Instances& valid, bool pending,
                      const Names& names) {
  const data::IndexSpaceRef& points = place.field->points_of(*place.set);
  std::string found = pending ? "fill" : "";
  for (const analysis::Instance* instance : valid) append(found, names.of(*instance, points));
  return names.of(*place.field, points) + " -> " + (found.empty() ? "nothing" : found);
}

std::string summary_text(const trace::Recording& recording, const Names& names) {
  std::vector<const analysis::Instance*> used;
  std::string text;
  for (const trace::Effect& effect : recording.effects) {
    if (effect.instance == nullptr || std::ranges::count(used, effect.instance) > 0) continue;
    used.push_back(effect.instance);
    append(text, names.of(*effect.instance, effect.instance->space));
  }
  return "T_summary(" + text + ")";
}

}  // namespace

void print(std::ostream& out, const Recorded& printed, const Machine& machine) {
  const trace::Recording& recording = printed.recording;
  const Names names(recording, machine);
  const trace::RecordingGraph graph = graph_of(printed, names);
  const trace::Outcome outcome =
      trace::outcome_of(recording, static_cast<Index>(recording.effects.size()));
  trace::RecordingText text{printed.name, printed.where, {}, {}, summary_text(recording, names)};
  for (std::size_t i = 0; i < recording.places.size(); ++i) {
    const trace::Place& place = recording.places[i];
    const trace::PlaceAfter& after = outcome.places[i];
    text.precondition.push_back(condition(place, place.valid, place.pending, names));
    text.postcondition.push_back(condition(place, after.valid(), after.fill.pending, names));
  }
  const auto operations = static_cast<std::uint32_t>(recording.operations.size());
  trace::print(out, text, graph,
               printed.optimise ? trace::optimise(operations, graph.edges).edges : graph.edges);
  out << "\n\n";
}

}  // namespace refrain::runtime
