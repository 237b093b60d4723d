#pragma once
// A trial: one random program, executed in one setting, judged in every way that the setting allows:
// results against the sequential interpreter, the graph against the naive analysis.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "refrain/runtime.hpp"
#include "support/mapping_rule.hpp"
#include "support/plan.hpp"

namespace refrain::test {

struct Setting {
  std::string name;
  std::string machine;
  int workers = 1;
  std::size_t window = 8192;
  bool seeded = false;  ///< run in an order decided by the program's seed
  MappingRule::Style style = MappingRule::Style::plain;
  bool every_launch = false;    ///< the mapper is asked each time
  bool limited_memory = false;  ///< instances are evicted
  bool check = false;           ///< checked accessors
  bool few_recordings = false;  ///< recordings are dropped
  /// Each program twice: with the calls of another one as a warm start, then with its own.
  bool warm_start = false;
  Options::Order order = Options::Order::local;
  bool logged = true;  ///< the graph is compared; without a log the runtime takes shorter ways
};

/// All settings, the cheapest and plainest first.
const std::vector<Setting>& settings();

/// Runs trials one after the other and keeps a runtime per setting. One thread.
class Trials {
 public:
  /// Empty, or what is wrong.
  std::string run(const Plan& plan, const Setting& setting);
  /// What `run` finds, with the seed, the setting and the shrunk program.
  std::string run_and_shrink(const Plan& plan, const Setting& setting);

  /// Of programs that started with their own calls, and searched for nothing else.
  struct WarmStarts {
    std::uint64_t candidates = 0, replays = 0;
  };
  [[nodiscard]] const WarmStarts& warm_starts() const { return warm_starts_; }

 private:
  std::string run_as(const Plan& plan, const Setting& setting, const Options& options);
  std::string run_warm(const Plan& plan, const Setting& setting);
  Runtime& runtime(const Setting& setting, const Options& options);
  std::map<std::string, std::unique_ptr<Runtime>> runtimes_;
  AutotraceCounters found_;  ///< by the last runtime so far
  WarmStarts warm_starts_;
};

}  // namespace refrain::test
