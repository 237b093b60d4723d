#pragma once
// --refrain:write-mapping: where the tasks of a run were, and their data, as a mapping file (mapping/mapping_file.hpp).
// Under it a run goes the same way again, if its mapper has treated the points of a launch alike and has set no priorities.
//
// A rule is about the launches of a task; where those of several source lines were mapped in several ways, about those of
// one line. Where the points of a launch were mapped in several ways, the rule says the one of most points, and a note
// says how many others there are. A single launch has no distribution.
//
// Threads: one lock. Memory: bounded by the launches that the program writes down, and by the answers of its mapper.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "refrain/mapper.hpp"
#include "report/listeners.hpp"

namespace refrain::runtime {

class MappingRecord final : public ReportFile {
 public:
  MappingRecord(const std::string& path, const Machine& machine)
      : ReportFile(path, "mapping"), machine_(machine) {}
  void launched(LaunchPlan& plan, const std::string& why) override;
  /// Writes the rules. A second call does nothing.
  void close();

 private:
  /// Where the points of launches were: how many were where.
  template <class What>
  using Votes = std::map<What, std::uint64_t>;
  struct Lay {
    std::vector<MemoryKind> memories;
    Order order;
    Extent extent;
    Sparse sparse;
    WhenFull when_full;
    friend auto operator<=>(const Lay&, const Lay&) = default;
  };
  struct Argument {
    std::string field;
    Votes<Lay> lay;
  };
  struct Launches {
    Votes<ProcessorKind> ran;
    /// What all groups of more than one point agree with.
    bool any_group = false, blocked = true, cyclic = true;
    std::vector<Argument> arguments;
  };
  using Place = std::pair<std::string, std::uint32_t>;  ///< file and line

  /// `place`: of which launches alone; null: of all.
  static std::string rule(const std::string& task, const Place* place, const Launches& launches);

  const Machine& machine_;
  std::mutex mutex_;
  std::map<std::string, std::map<Place, Launches>> tasks_;
  bool closed_ = false;
};

}  // namespace refrain::runtime
