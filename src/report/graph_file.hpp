#pragma once
// --refrain:graph: the task graph as Graphviz, written while it comes into being.
//
// Tasks are boxes, copies ellipses, fills house shapes, folds triangles pointing down, the program's own
// accesses rounded boxes. Edges that carry data are solid, mere order is dashed. The line of
// the launch is the tooltip.
//
// Threads: any. The file is complete when it has been closed.

#include <string>

#include "analysis/logs.hpp"
#include "report/report_file.hpp"

namespace refrain::runtime {

class GraphFile final : public analysis::GraphLog {
 public:
  /// Throws Error, naming the file, when it cannot be opened. The machine gives the names of memories.
  GraphFile(const std::string& path, const Machine& machine);
  /// Closes the file, if close() has not; an error of writing is then not reported.
  ~GraphFile() override;

  void operation(const analysis::LoggedOperation& operation) override;
  void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to,
            exec::EdgeKind kind) override;

  /// Ends the graph. Nothing may be logged after it. Throws Error when not all could be written.
  void close();

 private:
  [[nodiscard]] std::string label(const analysis::LoggedOperation& operation) const;

  const Machine& machine_;
  ReportFile file_;
};

}  // namespace refrain::runtime
