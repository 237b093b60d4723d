#include "capture/captured_program.hpp"

#include <algorithm>

#include "refrain/error.hpp"

namespace refrain::capture {

Costs without_rare(const Costs& costs) {
  Costs kept = costs;
  std::erase_if(kept, [&](const Durations& each) {
    return std::ranges::any_of(costs, [&](const Durations& other) {
      return other.bytes <= 2 * each.bytes && each.bytes <= 2 * other.bytes &&
             other.count >= 100 * each.count;
    });
  });
  return kept;
}

double seconds_for(const Costs& costs, std::uint64_t bytes) {
  const auto above = std::ranges::lower_bound(costs, bytes, {}, &Durations::bytes);
  if (above != costs.end() && above->bytes == bytes) return above->mean;
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(whole, 1));
  };
  // What takes no bytes says nothing of what takes some.
  if (above == costs.begin()) return above->mean * share(bytes, above->bytes);
  const auto below = above - 1;
  if (above == costs.end())
    return below->bytes == 0 ? below->mean : below->mean * share(bytes, below->bytes);
  const double way = share(bytes - below->bytes, above->bytes - below->bytes);
  return below->mean + way * (above->mean - below->mean);
}

namespace {

void add(Costs& costs, const Costs& more) {
  for (const Durations& each : more) {
    const auto at = std::ranges::lower_bound(costs, each.bytes, {}, &Durations::bytes);
    if (at == costs.end() || at->bytes != each.bytes) {
      costs.insert(at, each);
      continue;
    }
    const auto a = static_cast<double>(at->count), b = static_cast<double>(each.count);
    const double mean = (a * at->mean + b * each.mean) / (a + b);
    const auto about = [mean](const Durations& of) {
      return of.variance + (of.mean - mean) * (of.mean - mean);
    };
    *at = {at->bytes, at->count + each.count, mean, (a * about(*at) + b * about(each)) / (a + b)};
  }
}

void add(CostsByKind& costs, const CostsByKind& more) {
  for (std::size_t kind = 0; kind < processor_kinds; ++kind) add(costs[kind], more[kind]);
}

bool is_same(const Call& a, const Call& b) {
  return a.kind == b.kind && a.task == b.task && a.line == b.line && a.file == b.file &&
         a.domain == b.domain && a.arguments.size() == b.arguments.size();
}

}  // namespace

void add_times(Program& program, const Program& other) {
  const bool same = std::ranges::equal(program.tasks, other.tasks, {}, &Task::name, &Task::name);
  if (!same)
    throw UsageError("the captured programs '" + program.name + "' and '" + other.name +
                     "' have different tasks");
  for (std::size_t task = 0; task < program.tasks.size(); ++task)
    add(program.tasks[task].costs, other.tasks[task].costs);
  // Calls that are not the same in both say less than their tasks.
  const bool same_calls = std::ranges::equal(program.calls, other.calls, is_same);
  for (std::size_t call = 0; call < program.calls.size(); ++call)
    if (same_calls) add(program.calls[call].costs, other.calls[call].costs);
    else program.calls[call].costs = {};
  add(program.copies, other.copies);
  add(program.fills, other.fills);
  add(program.folds, other.folds);
}

std::string_view to_string(CallKind kind) {
  static constexpr std::string_view names[call_kinds] = {
      "region",     "partition", "destroy_region", "destroy_partition",
      "launch",     "fill",      "copy",           "access",
      "end_access", "attach",    "detach",         "reduce",
      "wait",       "fence",     "begin_trace",    "end_trace"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace refrain::capture
