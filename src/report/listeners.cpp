#include "report/listeners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

#include "analysis/field_state.hpp"
#include "data/index_space.hpp"
#include "graph/node.hpp"
#include "launch/launch_plan.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"
#include "refrain/machine.hpp"
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

// Graphviz strings know two escapes of their own, \" and \\; \n in a label is a line's end.
std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + '"';
}

}  // namespace

ReportFile::ReportFile(std::string path, std::string what)
    : path_(std::move(path)), what_(std::move(what)), file_(path_) {
  if (file_.error() != 0) fail(file_.error());
}

void ReportFile::append(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (!file_.is_open()) return;
  file_.out() << text;
  if (!file_.out() && error_ == 0) error_ = errno;
}

void ReportFile::close(const std::string& last) {
  const std::lock_guard lock(mutex_);
  if (!file_.is_open()) return;
  file_.out() << last;
  const int error = file_.keep();
  if (error_ == 0) error_ = error;
  if (error_ != 0) fail(error_);
}

void ReportFile::fail(int error) const {
  throw Error("the " + what_ + " cannot be written to '" + path_ + "': " + std::strerror(error));
}

GraphFile::GraphFile(const std::string& path, const Machine& machine)
    : machine_(machine), file_(path, "task graph") {
  file_.append(
      "digraph refrain {\n"
      "  node [style=filled,fontname=Helvetica,fontsize=10];\n"
      "  edge [arrowsize=0.7];\n");
}

GraphFile::~GraphFile() {
  try {
    close();
  } catch (const Error&) {}
}

std::string GraphFile::label(const analysis::LoggedOperation& operation) const {
  const bool task = operation.kind == exec::NodeKind::task;
  std::string text(task && operation.info != nullptr ? operation.info->name
                                                     : shown(operation.kind).name);
  if (task) text += " #" + std::to_string(operation.rank);
  if (!operation.field.empty()) text += " " + operation.field;
  if (operation.points) text += "\n" + data::to_string(*operation.points);
  if (operation.kind == exec::NodeKind::copy)
    text += "\n" + machine_.memory(operation.source).name + " to " +
            machine_.memory(operation.target).name;
  else if (operation.kind == exec::NodeKind::fill || operation.kind == exec::NodeKind::fold)
    text += "\n" + machine_.memory(operation.target).name;
  return text;
}

void GraphFile::operation(const analysis::LoggedOperation& operation) {
  std::string tooltip = "call " + std::to_string(operation.call);
  if (operation.info != nullptr && operation.info->where.line() != 0)
    tooltip = to_string(operation.info->where) + ", " + tooltip;
  file_.append(fmt::format("  {} [label={},{},tooltip={}];\n",
                           node_name(operation.scope, operation.seq), dot_string(label(operation)),
                           shown(operation.kind).style, dot_string(tooltip)));
}

void GraphFile::edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to,
                     exec::EdgeKind kind) {
  file_.append(fmt::format("  {} -> {} [style={}];\n", node_name(scope, from), node_name(scope, to),
                           kind == exec::EdgeKind::data ? "solid" : "dashed"));
}

void GraphFile::close() { file_.close("}\n"); }

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
    graph.operations.push_back({text_of(i, printed, names)});
  for (const trace::EntryUse& use : recording.entry_uses)
    graph.operations[use.operation].entered = true;
  graph.edges = {recording.edges, recording.carried};
  graph.idempotent = recording.idempotent;
  return graph;
}

/// "  state[0..3] -> state[0..3]^sys0": where the latest values are.
template <class Instances>
std::string condition(const trace::Place& place, const Instances& valid, bool pending,
                      const Names& names) {
  const data::IndexSpaceRef& points = place.field->points_of(*place.set);
  std::string found = pending ? "fill" : "";
  for (const analysis::Instance* instance : valid) append(found, names.of(*instance, points));
  return "  " + names.of(*place.field, points) + " -> " + (found.empty() ? "nothing" : found) +
         '\n';
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
    text.precondition += condition(place, place.valid, place.pending, names);
    text.postcondition += condition(place, after.valid(), after.fill.pending, names);
  }
  const auto operations = static_cast<std::uint32_t>(recording.operations.size());
  trace::print(out, text, graph,
               printed.optimise ? trace::optimise(operations, graph.edges).edges : graph.edges);
  out << "\n\n";
}

void RecordingsFile::recorded(const Recorded& recorded) {
  std::ostringstream text;
  print(text, recorded, machine_);
  file_.append(text.str());
}

// --- the timeline ------------------------------------------------------------------------------------

void TimelineListener::executed(const exec::Node& node, int thread, std::uint64_t begin_ns,
                                std::uint64_t end_ns) {
  replayed(*node.scope, node.info, node.kind, node.seq, thread, begin_ns, end_ns);
}

void TimelineListener::replayed(const exec::Scope&, const exec::NodeInfo* info, exec::NodeKind kind,
                                std::uint64_t seq, int thread, std::uint64_t begin_ns,
                                std::uint64_t end_ns) {
  profile::Event event;
  event.category = shown(kind).category;
  event.name = info != nullptr ? std::string_view(info->name) : to_string(event.category);
  event.begin_ns = begin_ns;
  event.end_ns = end_ns;
  if (info != nullptr) event.where = info->where;
  event.numbers[0] = {"operation", static_cast<std::int64_t>(seq)};
  timeline_.record(thread, event);
}

void TimelineListener::analysed(std::string_view call, const Where& where, int thread,
                                std::uint64_t begin_ns) {
  timeline_.record(thread, {to_string(profile::Category::analysing),
                            profile::Category::analysing,
                            begin_ns,
                            profile::now_ns(),
                            call,
                            where,
                            {}});
}

void TimelineListener::traced(profile::Category what, std::string_view trace, const Where& begun_at,
                              std::uint64_t calls, int thread, std::uint64_t begin_ns) {
  timeline_.record(thread, {to_string(what),
                            what,
                            begin_ns,
                            profile::now_ns(),
                            trace,
                            begun_at,
                            {{{"calls", static_cast<std::int64_t>(calls)}}}});
}

}  // namespace refrain::runtime
