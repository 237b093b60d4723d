#pragma once
// Runs of a real program: what a mapping search measures. The program stays as it is, and so do its arguments. The
// runtime in it is told by the environment variable REFRAIN_ARGS which mapping file to use, and to write its statistics
// and how it has mapped its tasks.
//
// A run has a folder of its own for its files, which is removed after it. Where the search's process ends, in any way,
// the program ends with it (map/guarded_process.hpp). One thread at a time.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "map_search/evaluator.hpp"
#include "map_search/space.hpp"

namespace refrain::map {

struct ProgramRunsOptions {
  /// Seconds on the clock that a run may take, its start included; 0: no limit. A program that goes on is told to end,
  /// and a second later it is killed.
  double timeout = 0;
  std::string folder;                   ///< for the files of a run; it is made where there is none
  std::vector<std::string> flags = {};  ///< of the runtime, for each run
  bool tasks_launch_others = false;     ///< whose names are not known
};

class ProgramRuns final : public map_search::Evaluator {
 public:
  using MappingText = std::function<std::string(const map_search::Mapping&)>;

  /// `command`: the program, which is looked for in PATH, and its arguments. `mapping_text`: a mapping file
  /// (docs/mapping.md). `tasks`: the names of all tasks that the program launches. Throws Error where the command is
  /// empty or has flags that this class sets itself, and where the folder cannot be made.
  ProgramRuns(std::vector<std::string> command, MappingText mapping_text,
              std::set<std::string> tasks, ProgramRunsOptions options);

  /// Of a run that is ok, the seconds are the runtime's from its start to its end, and the bytes those of all copies
  /// between memories. The cost is the process's time on the clock. Of a program that makes several runtimes, the last
  /// one counts; of several processes, rank 0.
  ///
  /// A run that ends without success is out_of_memory or invalid where its standard error says so, by an error of the
  /// runtime that there is no memory, or by one that names the mapping file; else it is crashed. It is changed where other
  /// tasks were launched than `tasks`, of which all have to be.
  ///
  /// Throws Error where no run can succeed: the program cannot be started, a file cannot be written.
  map_search::Run run(const map_search::Mapping& mapping) override;

 private:
  const std::vector<std::string> command_;
  const MappingText mapping_text_;
  const std::set<std::string> tasks_;
  const ProgramRunsOptions options_;
};

}  // namespace refrain::map
