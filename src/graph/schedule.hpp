#pragma once
// A schedule: a template cut into *lanes*, as a program with messages cuts its work into ranks. Each lane is a straight list
// of operations, which one thread at a time runs, replay after replay. Order within a lane costs nothing. Across lanes an
// operation waits until another lane has got so far; waits that earlier ones of the same lane imply are left out. A lane
// needs nothing else, so lanes may be in different replays.
//
// The cut. The points of a group are dealt out in blocks, so that equal blocks of successive groups are on one lane and
// their data stay with its thread. An operation alone goes where it would end first, if what comes from another lane comes
// later by kHandOver (list scheduling: R. Graham, "Bounds on multiprocessing timing anomalies", 1969). The first lane is
// the owner's, who issues meanwhile: it gets less by what that takes.

#include <cstdint>
#include <span>
#include <vector>

#include "graph/template.hpp"

namespace refrain::exec {

struct Schedule {
  /// How much later something arrives that another lane has made.
  static constexpr std::uint64_t kHandOver = 150;  // ns
  /// What an operation costs its lane beside its own time.
  static constexpr std::uint64_t kStep = 20;  // ns

  struct Wait {
    std::uint32_t lane;
    std::uint32_t steps : 31;   ///< of that lane's list are done
    std::uint32_t carried : 1;  ///< in the replay before
  };
  struct Step {
    std::uint32_t index;   ///< the operation
    std::uint32_t waits;   ///< where its waits end; they begin where those of the step before end
    bool signals = false;  ///< another lane waits for it
  };
  struct List {
    std::vector<Step> steps;
    std::vector<Wait> waits;
  };

  /// `lane_of`: of each operation.
  Schedule(const Template& of, std::span<const std::uint32_t> lane_of, std::uint32_t lanes);

  /// A cut. `ns`: how long each operation takes. `issue_ns`: how long the owner takes to issue all.
  static std::vector<std::uint32_t> cut(const Template& of, std::span<const std::uint64_t> ns,
                                        std::uint64_t issue_ns, std::uint32_t lanes);

  /// How long a replay of such a cut takes, in nanoseconds, where many follow one another.
  static std::uint64_t time_of(const Template& of, std::span<const std::uint32_t> lane_of,
                               std::span<const std::uint64_t> ns, std::uint64_t issue_ns,
                               std::uint32_t lanes);

  [[nodiscard]] std::size_t bytes() const;

  std::vector<List> lists;  ///< by lane
};

}  // namespace refrain::exec
