#include "report/listeners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "analysis/field_state.hpp"
#include "base/json.hpp"
#include "data/index_space.hpp"
#include "graph/node.hpp"
#include "launch/launch_plan.hpp"
#include "net/mailbox.hpp"
#include "refrain/error.hpp"
#include "replication/message_kind.hpp"
#include "trace/graph_calculus.hpp"
#include "trace/optimiser.hpp"
#include "trace/outcome.hpp"
#include "trace/recorded_call.hpp"
#include "trace/recording.hpp"

namespace refrain::runtime {

namespace {

/// How a kind of operation is shown.
struct Shown {
  std::string_view name, style;
  profile::Category category;
};
Shown shown(exec::NodeKind kind) {
  using exec::NodeKind;
  using profile::Category;
  switch (kind) {
    case NodeKind::task: return {"task", "shape=box,fillcolor=\"#cfe2f3\"", Category::task};
    case NodeKind::copy: return {"copy", "shape=ellipse,fillcolor=\"#fff2cc\"", Category::copy};
    case NodeKind::fill: return {"fill", "shape=house,fillcolor=\"#d9ead3\"", Category::fill};
    case NodeKind::fold: return {"fold", "shape=invtriangle,fillcolor=\"#f4cccc\"", Category::fold};
    case NodeKind::access:
      return {"access", "shape=box,style=\"filled,rounded\",fillcolor=\"#ead1dc\"",
              Category::access};
    case NodeKind::detach: return {"detach", "shape=cds,fillcolor=\"#d9d2e9\"", Category::other};
    case NodeKind::other: break;
  }
  return {"other", "shape=octagon,fillcolor=\"#eeeeee\"", Category::other};
}

std::string node_name(std::uint64_t scope, std::uint64_t seq) {
  return "s" + std::to_string(scope) + "_" + std::to_string(seq);
}

std::string label_of(const analysis::LoggedOperation& operation, const Machine& machine) {
  const bool task = operation.kind == exec::NodeKind::task;
  std::string text(task && operation.info != nullptr ? operation.info->name
                                                     : shown(operation.kind).name);
  if (task) text += " #" + std::to_string(operation.rank);
  if (!operation.field.empty()) text += " " + operation.field;
  if (operation.points) text += "\n" + data::to_string(*operation.points);
  if (operation.kind == exec::NodeKind::copy)
    text += "\n" + machine.memory(operation.source).name + " to " +
            machine.memory(operation.target).name;
  else if (operation.kind == exec::NodeKind::fill || operation.kind == exec::NodeKind::fold)
    text += "\n" + machine.memory(operation.target).name;
  return text;
}

}  // namespace

ReportFile::ReportFile(std::string path, std::string what, std::string last)
    : path_(std::move(path)), what_(std::move(what)), last_(std::move(last)), file_(path_) {
  check_written(path_, what_, file_.error());
}

void ReportFile::append(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (!file_.is_open()) return;
  file_.out() << text;
  if (!file_.out() && error_ == 0) error_ = errno;
}

void ReportFile::close() {
  const std::lock_guard lock(mutex_);
  if (!file_.is_open()) return;
  file_.out() << last_;
  const int error = file_.keep();
  check_written(path_, what_, error_ != 0 ? error_ : error);
}

GraphFile::GraphFile(const std::string& path, const Machine& machine)
    : ReportFile(path, "task graph", "}\n"), machine_(machine) {
  append(
      "digraph refrain {\n"
      "  node [style=filled,fontname=Helvetica,fontsize=10];\n"
      "  edge [arrowsize=0.7];\n");
}

// Graphviz reads the escapes of JSON that names have: of quotes, backslashes and the ends of lines.
void GraphFile::operation(const analysis::LoggedOperation& operation) {
  std::string tooltip = "call " + std::to_string(operation.call);
  if (operation.info != nullptr && operation.info->where.line() != 0)
    tooltip = to_string(operation.info->where) + ", " + tooltip;
  append(fmt::format("  {} [label={},{},tooltip={}];\n", node_name(operation.scope, operation.seq),
                     json_string(label_of(operation, machine_)), shown(operation.kind).style,
                     json_string(tooltip)));
}

void GraphFile::edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to) {
  append(fmt::format("  {} -> {};\n", node_name(scope, from), node_name(scope, to)));
}

// --- recordings as text -----------------------------------------------------------------------------

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

/// A recording, in words.
class Worded {
 public:
  Worded(const Recorded& recorded, const Machine& machine)
      : recorded_(recorded), recording_(recorded.recording), machine_(machine) {}

  void print(std::ostream& out) const {
    const trace::Outcome outcome(recording_, static_cast<Index>(recording_.effects.size()));
    trace::RecordingText text{recorded_.name, recorded_.where, {}, {}, summary()};
    for (std::size_t i = 0; i < recording_.places.size(); ++i) {
      const trace::Place& place = recording_.places[i];
      const trace::PlaceAfter& after = outcome.places[i];
      text.precondition += condition(place, place.valid, place.pending);
      text.postcondition += condition(place, trace::valid_in(after), after.fill.pending);
    }
    trace::RecordingGraph graph;
    for (Index i = 0; i < recording_.operations.size(); ++i)
      graph.operations.push_back({operation(i)});
    for (const trace::EntryUse& use : recording_.entry_uses)
      graph.operations[use.operation].entered = true;
    graph.edges = {recording_.edges, recording_.carried};
    graph.idempotent = recording_.idempotent;
    const auto operations = static_cast<std::uint32_t>(recording_.operations.size());
    trace::print(out, text, graph,
                 recorded_.optimise ? trace::optimise(operations, graph.edges).edges : graph.edges);
    out << "\n\n";
  }

 private:
  [[nodiscard]] std::string name(const analysis::FieldState& field,
                                 const data::IndexSpaceRef& points) const {
    std::string name = field.name();
    const auto same_name = [&](const trace::FieldUsed& used) {
      return used.field != &field && used.field->name() == field.name();
    };
    if (std::ranges::any_of(recording_.fields, same_name) && field.tree() != nullptr)
      name += "@" + std::to_string(field.tree()->slot());
    return points == field.space() ? name : name + text_of(*points);
  }

  [[nodiscard]] std::string name(const analysis::Instance& instance,
                                 const data::IndexSpaceRef& points) const {
    const auto beside = [&instance](const analysis::Instance& other) {
      return &other != &instance && other.field == instance.field &&
             other.memory == instance.memory;
    };
    const bool several =
        recording_.per_replay_of(&instance) != nullptr
            ? std::ranges::any_of(recording_.own,
                                  [&](const auto& own) { return beside(*own.placeholder); })
            : std::ranges::any_of(instance.field->instances().all(),
                                  [&](const auto& other) { return beside(*other); });
    return name(*instance.field, points) + "^" + machine_.memory(instance.memory).name +
           (several ? "." + std::to_string(instance.number) : "");
  }

  [[nodiscard]] std::string task(Index index) const {
    const trace::Operation& operation = recording_.operations[index];
    LaunchPlan& plan = *recorded_.calls[operation.step]->plan;
    std::string arguments;
    const auto all = plan.arguments_of(operation.rank);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const PlannedArgument& argument = all[i];
      const auto* own = recording_.per_replay_argument(index, i);
      // A task that reduces has an accumulator, which its fold brings home.
      append(arguments, argument.privilege == Privilege::reduce
                            ? std::string(plan.requirements[i].op->name) + " " +
                                  name(*argument.field, argument.points)
                            : name(own != nullptr ? *own : *argument.instance, argument.points));
    }
    return plan.info.name + "(" + arguments + ")";
  }

  [[nodiscard]] std::string operation(Index index) const {
    const trace::Operation& operation = recording_.operations[index];
    if (operation.kind == exec::NodeKind::task) return task(index);
    if (const auto* copy = operation.work_as<analysis::CopyPayload>())
      return "copy(" + name(*copy->target, copy->points) + ", " +
             name(*copy->source, copy->points) + ")";
    if (const auto* fill = operation.work_as<trace::Fill>())
      return "fill(" + name(*fill->target, fill->points) + ")";
    if (const auto* fold = operation.work_as<trace::Fold>(); fold != nullptr && !fold->is_given())
      return "fold(" + name(*fold->payload.target, fold->payload.points) + ")";
    if (const auto* message = operation.work_as<analysis::MessagePayload>())
      return operation.info->name + "(" + name(*message->instance, message->points) + ")";
    return operation.info->name + "()";
  }

  /// "  state[0..3] -> state[0..3]^sys0": where the latest values are.
  [[nodiscard]] std::string condition(const trace::Place& place, const trace::Instances& valid,
                                      bool pending) const {
    const data::IndexSpaceRef& points = place.field->points_of(*place.set);
    std::string found = pending ? "fill" : "";
    for (const analysis::Instance* instance : valid) append(found, name(*instance, points));
    return "  " + name(*place.field, points) + " -> " + (found.empty() ? "nothing" : found) + '\n';
  }

  [[nodiscard]] std::string summary() const {
    std::vector<const analysis::Instance*> used;
    std::string text;
    for (const trace::Effect& effect : recording_.effects) {
      if (effect.instance == nullptr || std::ranges::count(used, effect.instance) > 0) continue;
      used.push_back(effect.instance);
      append(text, name(*effect.instance, effect.instance->space));
    }
    return "T_summary(" + text + ")";
  }

  const Recorded& recorded_;
  const trace::Recording& recording_;
  const Machine& machine_;
};

}  // namespace

void print(std::ostream& out, const Recorded& recorded, const Machine& machine) {
  Worded(recorded, machine).print(out);
}

void RecordingsFile::recorded(const Recorded& recorded) {
  std::ostringstream text;
  print(text, recorded, machine_);
  append(text.str());
}

// --- the timeline ------------------------------------------------------------------------------------

void TimelineListener::executed(const exec::Executed& ran) {
  profile::Event event;
  event.category = shown(ran.kind).category;
  event.name = ran.info != nullptr ? std::string_view(ran.info->name) : to_string(event.category);
  event.begin_ns = ran.begin_ns;
  event.end_ns = ran.end_ns;
  if (ran.info != nullptr) event.where = ran.info->where;
  event.number = {"operation", static_cast<std::int64_t>(ran.seq)};
  timeline_.record(ran.thread, event);
}

void TimelineListener::passed(const net::Passed& message) {
  const net::Header& header = message.header;
  const auto& [from, to] = std::pair(header.from, header.to);
  const std::string about =
      fmt::format("call {}, argument {}, {} rank {}", header.call, header.argument,
                  message.received ? "from" : "to", message.received ? from : to);
  const std::string name = replication::name_of_kind(header.kind);
  profile::Event event;
  event.name = name;
  event.category = profile::Category::message;
  event.begin_ns = message.begin_ns;
  event.end_ns = message.end_ns;
  event.subject = about;
  event.where = message.where;
  event.number = {"bytes", static_cast<std::int64_t>(header.size)};
  const std::uint64_t pair = std::uint64_t{from} * ranks_ + to;
  event.flow = {(pair << 40) + header.number + 1, message.received};
  timeline_.record(threads_ + (message.received ? 1 : 0), event);
}

}  // namespace refrain::runtime
