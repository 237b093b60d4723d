#include "report/listeners.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "data/index_space.hpp"
#include "graph/node.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"
#include "refrain/machine.hpp"

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

void RecordingsFile::recorded(const Recorded& recorded) {
  std::ostringstream text;
  print(text, recorded, machine_);
  file_.append(text.str());
}

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
