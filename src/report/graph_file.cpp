#include "report/graph_file.hpp"

#include "data/index_space.hpp"
#include "refrain/error.hpp"
#include "refrain/machine.hpp"

namespace refrain::runtime {

namespace {

std::string_view node_style(exec::NodeKind kind) {
  using exec::NodeKind;
  switch (kind) {
    case NodeKind::task: return "shape=box,fillcolor=\"#cfe2f3\"";
    case NodeKind::copy: return "shape=ellipse,fillcolor=\"#fff2cc\"";
    case NodeKind::fill: return "shape=house,fillcolor=\"#d9ead3\"";
    case NodeKind::fold: return "shape=invtriangle,fillcolor=\"#f4cccc\"";
    case NodeKind::access: return "shape=box,style=\"filled,rounded\",fillcolor=\"#ead1dc\"";
    case NodeKind::detach: return "shape=cds,fillcolor=\"#d9d2e9\"";
    case NodeKind::other: break;
  }
  return "shape=octagon,fillcolor=\"#eeeeee\"";
}

std::string_view kind_name(exec::NodeKind kind) {
  using exec::NodeKind;
  switch (kind) {
    case NodeKind::task: return "task";
    case NodeKind::copy: return "copy";
    case NodeKind::fill: return "fill";
    case NodeKind::fold: return "fold";
    case NodeKind::access: return "access";
    case NodeKind::detach: return "detach";
    case NodeKind::other: break;
  }
  return "other";
}

std::string_view edge_style(exec::EdgeKind kind) {
  return kind == exec::EdgeKind::data ? "style=solid" : "style=dashed";
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
                                                     : kind_name(operation.kind));
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
  const std::string line =
      "  " + node_name(operation.scope, operation.seq) + " [label=" + dot_string(label(operation)) +
      "," + std::string(node_style(operation.kind)) + ",tooltip=" + dot_string(tooltip) + "];\n";
  file_.append(line);
}

void GraphFile::edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to,
                     exec::EdgeKind kind) {
  const std::string line = "  " + node_name(scope, from) + " -> " + node_name(scope, to) + " [" +
                           std::string(edge_style(kind)) + "];\n";
  file_.append(line);
}

void GraphFile::close() { file_.close("}\n"); }

}  // namespace refrain::runtime
