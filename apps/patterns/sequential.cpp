#include "sequential.hpp"

#include "../common/timer.hpp"

namespace patterns {

Rows::Rows(const Pattern& pattern, const Work& work) : pattern_(pattern), work_(work) {
  const auto width = static_cast<std::size_t>(pattern.width);
  for (std::vector<Cell>& row : rows_) row.resize(width * static_cast<std::size_t>(work.cells));
  if (work.kernel == Kernel::memory)
    scratch_.resize(width * static_cast<std::size_t>(work.scratch));
}

void Rows::run(int step, int task, const std::vector<Tasks>& inputs) {
  const Tasks before = pattern_.tasks(step - 1);
  std::uint64_t sum = 0;
  for (const Tasks& wanted : inputs) {
    const Tasks there = intersection(wanted, before);
    if (there.count() > 0)
      sum += check_inputs(output(step - 1, there.first), there, step - 1, work_.cells);
  }
  std::span<double> scratch{scratch_};
  if (!scratch.empty()) {
    const auto each = static_cast<std::size_t>(work_.scratch);
    scratch = scratch.subspan(static_cast<std::size_t>(task) * each, each);
  }
  run_task(work_, pattern_.graph, step, task, sum, scratch, output(step, task));
}

void Rows::append_digests(std::vector<std::uint64_t>& digests) {
  const int last = pattern_.steps - 1;
  const Tasks tasks = pattern_.tasks(last);
  for (int task = tasks.first; task <= tasks.last; ++task)
    digests.push_back(output(last, task)->digest);
}

std::vector<std::vector<std::vector<Tasks>>> all_inputs(const Pattern& pattern) {
  std::vector<std::vector<std::vector<Tasks>>> all(static_cast<std::size_t>(pattern.sets()));
  for (int set = 0; set < pattern.sets(); ++set)
    for (int task = 0; task < pattern.width; ++task)
      all[static_cast<std::size_t>(set)].push_back(pattern.inputs(set, task));
  return all;
}

Outcome run_sequential(const Setup& setup) {
  std::vector<Rows> rows;
  std::vector<std::vector<std::vector<std::vector<Tasks>>>> inputs;
  for (const Pattern& graph : setup.graphs) {
    rows.emplace_back(graph, setup.work);
    inputs.push_back(all_inputs(graph));
  }
  const apps::Timer timer;
  for (int step = 0; step < setup.steps(); ++step)
    for (std::size_t g = 0; g < rows.size(); ++g) {
      const Pattern& graph = setup.graphs[g];
      const auto& needed = inputs[g][static_cast<std::size_t>(graph.set_of(step))];
      const Tasks tasks = graph.tasks(step);
      for (int task = tasks.first; task <= tasks.last; ++task)
        rows[g].run(step, task, needed[static_cast<std::size_t>(task)]);
    }
  Outcome outcome;
  outcome.seconds = timer.seconds();
  for (Rows& each : rows) each.append_digests(outcome.digests);
  return outcome;
}

}  // namespace patterns
