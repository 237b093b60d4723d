#pragma once
// Simulates a captured program on a described machine under a mapping: how long it takes, what is copied where, what fits
// (docs/mapping.md). The analysis is that of a real run, so the copies and evictions are; time is modelled.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/captured_program.hpp"
#include "refrain/counters.hpp"
#include "refrain/machine.hpp"
#include "refrain/mapper.hpp"
#include "refrain/options.hpp"
#include "simulate/player.hpp"

namespace refrain::simulate {

struct Simulation {
  /// Of the runtime: window, tracing, mapping file, reports. Its machine is not looked at. Workers -1: one fewer than rank
  /// 0 has cpus.
  refrain::Options options;
  std::optional<Machine> machine;  ///< nothing: that of the captured run
  std::string costs;               ///< a file (cost_model.hpp); empty: none
  std::function<std::unique_ptr<Mapper>(const Machine&)>
      mapper;  ///< null: the default one, or the file's
};

struct Busy {
  std::string name;
  double seconds = 0;
};
struct LinkBusy {
  std::string from, to;
  std::uint64_t copies = 0, bytes = 0;
  double seconds = 0;
};
struct Peak {
  std::string name;
  std::uint64_t bytes = 0, capacity = 0;
};

struct Outcome {
  double seconds = 0;            ///< from the first call to the end of the last operation
  std::vector<Phase> phases;     ///< between fences
  std::optional<Loop> loop;      ///< the longest
  std::uint64_t tasks = 0;       ///< points launched
  std::uint64_t operations = 0;  ///< tasks, copies, fills and folds that were run
  std::vector<Busy> processors;  ///< all
  std::vector<LinkBusy> links;   ///< those that were used
  std::vector<Peak> memories;    ///< those that were used
  Counters counters;
  /// Of an iteration of the longest loop; nothing without one.
  [[nodiscard]] std::optional<double> iteration_seconds() const {
    if (!loop) return std::nullopt;
    return loop->iteration_seconds();
  }
};

/// One thread at a time. Throws InputError for wrong files; UsageError, which names the launch, for what cannot be
/// modelled; OutOfMemory where the data does not fit the memories.
Outcome simulate(const capture::Program& program, const Simulation& simulation);

/// For people, and for programs.
std::string to_text(const Outcome& outcome);
std::string to_json(const Outcome& outcome);

}  // namespace refrain::simulate
