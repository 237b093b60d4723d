#pragma once
// Mapping files: rules in JSON that say where tasks run and where their data lies (docs/mapping.md). A rule names
// launches by task, and where that is not enough by source line; what it says of them replaces what the rules before it
// have said, and what no rule says is the default mapper's.
//
// Threads: several contexts ask at once. The rules do not change; whether one has applied is an atomic flag, and the
// names that were seen are under a lock.

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "refrain/machine.hpp"
#include "refrain/mapper.hpp"

namespace refrain::mapping {

/// The version of the format, and the name of the member that says so.
inline constexpr int kMappingVersion = 1;
inline constexpr std::string_view kMappingMember = "refrain_mapping";

/// How the points of a group are dealt out: to the ranks of a run, and on each to its processors of a kind.
struct Distribution {
  bool leader = false;  ///< all on rank 0
  Sharding among{};
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// Which of so many processors, or ranks, the point at this position of a group gets.
std::size_t deal(const Sharding& among, const MappingInput& input, std::size_t processors);

class MappingFile final : public Mapper {
 public:
  /// `name` is what errors call the file. InputError for a mistake in it, and for kinds of processors or memories that the
  /// machine has not, with line and column.
  MappingFile(std::string text, std::string name, const Machine& machine);
  ~MappingFile() override;

  [[nodiscard]] std::string_view name() const override { return name_; }
  /// UsageError where a rule that names the task has no body, memory or argument of it.
  void map(const MappingInput& input, MappingOutput& output) override;
  Sharding sharding(const ShardingInput& input) override;

  /// Throws InputError for the first rule whose task does not exist. `known`: the tasks that were made.
  void check_tasks(std::span<const std::string> known) const;
  /// A sentence for each rule that has not applied to anything; empty: all have.
  [[nodiscard]] std::string unused() const;

 private:
  struct Rule;

  /// The rules that say something about a launch, in their order.
  std::vector<Rule*> rules_for(std::string_view task, const Where& where);

  const std::string name_;
  const JsonFile file_;
  std::vector<std::unique_ptr<Rule>> rules_;
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> seen_;  ///< names of tasks
};

/// Whether `pattern`, in which each `*` stands for any text, fits the whole name.
bool fits(std::string_view pattern, std::string_view name);

}  // namespace refrain::mapping
