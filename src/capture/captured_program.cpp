#include "capture/captured_program.hpp"

#include <algorithm>
#include <map>

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

double seconds_for(const Costs& costs, std::uint64_t bytes, double Durations::*which) {
  const auto above = std::ranges::lower_bound(costs, bytes, {}, &Durations::bytes);
  if (above != costs.end() && above->bytes == bytes) return (*above).*which;
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(whole, 1));
  };
  // What takes no bytes says nothing of what takes some.
  if (above == costs.begin()) return (*above).*which * share(bytes, above->bytes);
  const auto below = above - 1;
  if (above == costs.end())
    return below->bytes == 0 ? (*below).*which : (*below).*which * share(bytes, below->bytes);
  const double way = share(bytes - below->bytes, above->bytes - below->bytes);
  return (*below).*which + way * ((*above).*which - (*below).*which);
}

namespace {

/// Several runs of a program, one volume: their weighted median. The machine may have been slow for all of a run, which a
/// mean would have a share of. Requires some.
Durations typical(std::vector<Durations>& runs) {
  std::ranges::sort(runs, {}, &Durations::mean);
  Durations all{.bytes = runs.front().bytes};
  for (const Durations& each : runs) all.count += each.count;
  std::uint64_t below = 0;
  auto middle = runs.begin();
  while (2 * (below + middle->count) < all.count) below += (middle++)->count;
  const bool between = 2 * (below + middle->count) == all.count && middle + 1 != runs.end();
  const Durations& upper = between ? *(middle + 1) : *middle;
  all.mean = (middle->mean + upper.mean) / 2;
  all.waits = (middle->waits + upper.waits) / 2;
  for (const Durations& each : runs)
    all.variance += static_cast<double>(each.count) / static_cast<double>(all.count) *
                    (each.variance + (each.mean - all.mean) * (each.mean - all.mean));
  return all;
}

/// `costs_of(program)`: the same costs in each.
template <class CostsOf>
void merge(Program& program, std::span<const Program> others, CostsOf costs_of) {
  std::map<std::uint64_t, std::vector<Durations>> by_bytes;
  const auto add = [&](const Costs& costs) {
    for (const Durations& each : costs) by_bytes[each.bytes].push_back(each);
  };
  add(costs_of(program));
  for (const Program& other : others) add(costs_of(other));
  costs_of(program).clear();
  for (auto& [bytes, runs] : by_bytes) costs_of(program).push_back(typical(runs));
}

bool is_same(const Call& a, const Call& b) {
  return a.kind == b.kind && a.task == b.task && a.line == b.line && a.file == b.file &&
         a.domain == b.domain && a.arguments.size() == b.arguments.size();
}

}  // namespace

void add_times(Program& program, std::span<const Program> others) {
  bool same_calls = true;
  for (const Program& other : others) {
    if (!std::ranges::equal(program.tasks, other.tasks, {}, &Task::name, &Task::name))
      throw UsageError("the captured programs '" + program.name + "' and '" + other.name +
                       "' have different tasks");
    same_calls &= std::ranges::equal(program.calls, other.calls, is_same);
  }
  for (std::size_t kind = 0; kind < processor_kinds; ++kind) {
    for (std::size_t task = 0; task < program.tasks.size(); ++task)
      merge(
          program, others, [&](auto& of) -> auto& { return of.tasks[task].costs[kind]; });
    // Calls that are not the same in all say less than their tasks.
    for (std::size_t call = 0; call < program.calls.size(); ++call)
      if (same_calls)
        merge(
            program, others, [&](auto& of) -> auto& { return of.calls[call].costs[kind]; });
      else program.calls[call].costs = {};
  }
  for (const auto costs : {&Program::copies, &Program::near_copies, &Program::shared_writes,
                           &Program::fills, &Program::folds})
    merge(
        program, others, [&](auto& of) -> auto& { return of.*costs; });
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
