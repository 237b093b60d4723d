#include "support/trial.hpp"

#include <fmt/format.h>

#include "analysis/field_state.hpp"
#include "oracle/error.hpp"
#include "oracle/run_reader.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/generate.hpp"
#include "support/judge.hpp"
#include "support/naive_analysis.hpp"
#include "support/random.hpp"
#include "support/runner.hpp"
#include "support/shrink.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace refrain::test {

namespace {

constexpr const char* one_memory = "emulated:cpus=8";
constexpr const char* two_gpus = "emulated:cpus=8,gpus=2";
constexpr const char* two_nodes = "emulated:cpus=4,numa=2";
// Room for a few instances only.
constexpr const char* tiny = "emulated:cpus=8,gpus=2,framebuffer=512B";
constexpr std::size_t kNoProgramIsThatLong = 1'000'000;
constexpr auto everywhere = MappingRule::Style::spread;

void drop_marks(std::vector<Statement>& statements) {
  std::erase_if(statements, [](const Statement& s) {
    return s.kind == Statement::Kind::begin_trace || s.kind == Statement::Kind::end_trace;
  });
  for (Statement& s : statements) drop_marks(s.launch.children);
}

Options options_of(const Setting& setting, std::uint64_t seed) {
  Options options;
  options.machine = setting.machine;
  options.workers = setting.workers;
  options.window = setting.window;
  if (setting.seeded) options.schedule = mix(seed, 5);
  if (setting.few_recordings) options.trace_memory = 1 + mix(seed, 6) % 60'000;
  options.order = setting.order;
  options.check = options.check || setting.check;
  // So small that short loops are found.
  options.autotrace_min_length = 1 + mix(seed, 7) % 4;
  options.autotrace_sample = 2 + mix(seed, 8) % 5;
  options.autotrace_history = 20 + mix(seed, 10) % 80;
  options.autotrace_max_length = mix(seed, 11) % 4 == 0 ? 3 : 0;
  options.trace_optimize = mix(seed, 13) % 4 != 0;
  if (mix(seed, 14) % 4 == 0) options.trace_length = 2 + mix(seed, 15) % 30;
  return options;
}

/// Empty, or why a file that was recorded cannot be read.
std::string unreadable(const std::string& file) {
  try {
    (void)oracle::read_run(file);
    return {};
  } catch (const oracle::OracleError& error) { return error.what(); }
}

/// What a program has left behind that it should not.
std::string left_over(Runtime& runtime) {
  std::string text;
  for (const Memory& memory : runtime.machine().memories())
    if (const auto used = runtime.impl().memories().pool(memory.id).usage().used; used != 0)
      text += fmt::format("{} bytes of {} are still in use after the program\n", used, memory.name);
  if (const auto futures = runtime.counters().futures_alive; futures != 0)
    text += fmt::format("{} futures are alive after the program\n", futures);
  return text;
}

}  // namespace

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all{
      {.name = "one memory", .machine = one_memory, .workers = 1},
      {.name = "two gpus", .machine = two_gpus, .workers = 2, .style = everywhere},
      {.name = "exact instances", .machine = one_memory, .workers = 4, .style = everywhere},
      {.name = "seeded", .machine = one_memory, .seeded = true},
      {.name = "window of 1", .machine = one_memory, .workers = 2, .window = 1},
      {.name = "tiny framebuffers",
       .machine = tiny,
       .workers = 2,
       .style = everywhere,
       .limited_memory = true},
      {.name = "eight workers",
       .machine = two_gpus,
       .workers = 8,
       .style = everywhere,
       .every_launch = true},
      {.name = "seeded, two gpus", .machine = two_gpus, .seeded = true, .style = everywhere},
      {.name = "no worker", .machine = one_memory, .workers = 0, .window = 3, .check = true},
      {.name = "default mapper",
       .machine = two_gpus,
       .workers = 2,
       .style = MappingRule::Style::standard},
      {.name = "seeded, tiny framebuffers",
       .machine = tiny,
       .window = 2,
       .seeded = true,
       .style = everywhere,
       .limited_memory = true},
      {.name = "seeded, few recordings",
       .machine = two_gpus,
       .seeded = true,
       .style = everywhere,
       .few_recordings = true},
      {.name = "seeded, two nodes",
       .machine = two_nodes,
       .seeded = true,
       .style = everywhere,
       .every_launch = true},
      {.name = "no log", .machine = two_gpus, .workers = 2, .style = everywhere, .logged = false},
      {.name = "seeded, no log",
       .machine = two_gpus,
       .seeded = true,
       .style = everywhere,
       .logged = false},
      {.name = "path order",
       .machine = two_gpus,
       .workers = 3,
       .style = everywhere,
       .order = Options::Order::path,
       .logged = false},
      {.name = "fifo order",
       .machine = two_gpus,
       .workers = 3,
       .style = everywhere,
       .order = Options::Order::fifo,
       .logged = false},
      {.name = "warm start",
       .machine = two_gpus,
       .workers = 2,
       .style = everywhere,
       .warm_start = true},
      {.name = "seeded, warm start",
       .machine = two_gpus,
       .seeded = true,
       .style = everywhere,
       .warm_start = true},
  };
  return all;
}

Runtime& Trials::runtime(const Setting& setting, const Options& options) {
  std::unique_ptr<Runtime>& kept = runtimes_[setting.name];
  if (kept == nullptr) kept = std::make_unique<Runtime>(options);
  return *kept;
}

std::string Trials::run(const Plan& plan, const Setting& setting) {
  if (setting.warm_start) return run_warm(plan, setting);
  return run_as(plan, setting, options_of(setting, plan.seed));
}

std::string Trials::run_warm(const Plan& plan, const Setting& setting) {
  const TemporaryFolder folder;
  const std::string others = folder.path("others"), own = folder.path("own");
  Options options = options_of(setting, plan.seed);
  options.record = others;
  const std::string wrong_other = run_as(generate(plan.seed + 1), setting, options);
  if (!wrong_other.empty()) return "the program of the next seed:\n" + wrong_other;
  if (std::string why = unreadable(others); !why.empty()) return why;
  options.warm_start = others;
  options.record = own;
  std::string wrong = run_as(plan, setting, options);
  if (!wrong.empty()) return "after another program:\n" + wrong;
  if (std::string why = unreadable(own); !why.empty()) return why;
  options.warm_start = own;
  options.record.clear();
  const bool searches = mix(plan.seed, 12) % 2 == 0;
  if (!searches) options.autotrace_sample = options.autotrace_history = kNoProgramIsThatLong;
  wrong = run_as(plan, setting, options);
  if (!wrong.empty()) return "after itself:\n" + wrong;
  if (!searches) {
    warm_starts_.candidates += found_.candidates;
    warm_starts_.replays += found_.replays;
  }
  return {};
}

std::string Trials::run_as(const Plan& marked, const Setting& setting, const Options& options) {
  std::vector<Observation> expected;
  Plan plan = marked;
  if (plan.seed % 3 == 0) drop_marks(plan.statements);  // what they mark is to be found
  const Program program = resolve(plan, &expected);
  Runtime& runtime = this->runtime(setting, options);
  const MappingRule rule(runtime.machine(), setting.style, mix(plan.seed, 9));
  if (setting.style != MappingRule::Style::standard)
    runtime.set_mapper(rule.mapper(setting.every_launch));
  static const std::size_t usual = analysis::FieldState::least_entries;
  analysis::FieldState::least_entries = mix(plan.seed, 12) % 2 == 0 ? 6 : usual;
  static const auto usual_runs =
      std::pair(analysis::SetRuns::least_many, analysis::SetRuns::least_patience);
  std::tie(analysis::SetRuns::least_many, analysis::SetRuns::least_patience) =
      mix(plan.seed, 13) % 4 != 0 ? std::pair(std::size_t{2}, std::int64_t{0}) : usual_runs;
  GraphRecorder graph;
  if (setting.logged) runtime.impl().listeners().add(graph, {runtime::Events::graph});
  const RunOutcome outcome = execute(runtime, program);
  runtime.impl().listeners().remove(graph);
  found_ = runtime.counters().autotrace;
  std::string wrong = compare(program, expected, outcome) + left_over(runtime);
  if (wrong.empty() && setting.logged)
    wrong = judge_all(program, rule, graph, setting.limited_memory);
  // One that went wrong is not used again, nor ended: that would fail too, and hide what it did first.
  if (!wrong.empty()) (void)runtimes_.at(setting.name).release();
  if (!wrong.empty() || setting.seeded || setting.warm_start) runtimes_.erase(setting.name);
  return wrong;
}

std::string Trials::run_and_shrink(const Plan& plan, const Setting& setting) {
  if (run(plan, setting).empty()) return {};
  const Plan small = shrink(plan, [&](const Plan& p) { return !run(p, setting).empty(); });
  return fmt::format("seed {}, setting '{}'\n{}\n{}", plan.seed, setting.name, run(small, setting),
                     to_text(resolve(small)));
}

}  // namespace refrain::test
