// Task Bench's graphs by hand in MPI: each rank has a block of the tasks; a step sends what other ranks need of the step
// before, one message per rank, runs the tasks that need nothing from there, waits, and runs the rest.
//   peer_patterns_mpi RANKS
// starts itself under mpirun. Requests: see patterns.hpp.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "peers/patterns.hpp"
#include "peers/ranks.hpp"

namespace {

using namespace patterns;

using peer::own_rank;
using peer::ranks;

/// The tasks of a rank.
Tasks block(int width, int rank) {
  return {static_cast<int>(std::int64_t{width} * rank / ranks()),
          static_cast<int>(std::int64_t{width} * (rank + 1) / ranks()) - 1};
}

/// Outputs of the step before that go to a rank, or come from it.
struct Message {
  int rank;
  std::vector<Tasks> outputs;
  std::vector<Cell> packed{};  ///< where they do not lie one after another
};

/// What a rank does in a step of one kind.
struct Plan {
  struct Run {
    int task;
    std::vector<Tasks> inputs;
  };
  std::vector<Message> receive, send;
  std::vector<Run> before_wait, after_wait;
};

/// A rank's part of a graph.
class Graph {
 public:
  Graph(const Pattern& pattern, const Work& work) : pattern_(pattern), work_(work) {
    const auto width = static_cast<std::size_t>(pattern.width);
    for (std::vector<Cell>& row : rows_) row.resize(width * static_cast<std::size_t>(work.cells));
    const auto own = static_cast<std::size_t>(block(pattern.width, own_rank()).count());
    if (work.kernel == Kernel::memory)
      scratch_.resize(own * static_cast<std::size_t>(work.scratch));
    for (int step = 0; step < pattern.steps; ++step) plans_.push_back(&plan(step));
  }

  void run(int step) {
    Plan& plan = *plans_[static_cast<std::size_t>(step)];
    requests_.clear();
    for (Message& message : plan.receive) {
      requests_.emplace_back();
      MPI_Irecv(place(message, step - 1), bytes(message), MPI_BYTE, message.rank, pattern_.graph,
                MPI_COMM_WORLD, &requests_.back());
    }
    for (Message& message : plan.send) {
      pack(message, step - 1);
      requests_.emplace_back();
      MPI_Isend(place(message, step - 1), bytes(message), MPI_BYTE, message.rank, pattern_.graph,
                MPI_COMM_WORLD, &requests_.back());
    }
    for (const Plan::Run& each : plan.before_wait) run(step, each);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (Message& message : plan.receive) unpack(message, step - 1);
    for (const Plan::Run& each : plan.after_wait) run(step, each);
  }

  /// Of all ranks, on the first one; collective.
  void append_digests(std::vector<std::uint64_t>& digests) {
    const int last = pattern_.steps - 1;
    const Tasks tasks = pattern_.tasks(last);
    for (int rank = 0; rank < ranks(); ++rank) {
      const Tasks own = intersection(block(pattern_.width, rank), tasks);
      for (int task = own.first; task <= own.last; ++task) {
        std::uint64_t digest = output(last, task)->digest;
        if (rank != 0 && own_rank() == rank)
          MPI_Send(&digest, 1, MPI_UINT64_T, 0, pattern_.graph, MPI_COMM_WORLD);
        if (rank != 0 && own_rank() == 0)
          MPI_Recv(&digest, 1, MPI_UINT64_T, rank, pattern_.graph, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
        digests.push_back(digest);
      }
    }
  }

 private:
  Cell* output(int step, int task) {
    return rows_[step & 1].data() + static_cast<std::ptrdiff_t>(task) * work_.cells;
  }

  void run(int step, const Plan::Run& each) {
    std::uint64_t sum = 0;
    for (const Tasks& there : each.inputs)
      sum += check_inputs(output(step - 1, there.first), there, step - 1, work_.cells);
    std::span<double> scratch{scratch_};
    if (!scratch.empty()) {
      const auto size = static_cast<std::size_t>(work_.scratch);
      const int own = each.task - block(pattern_.width, own_rank()).first;
      scratch = scratch.subspan(static_cast<std::size_t>(own) * size, size);
    }
    run_task(work_, pattern_.graph, step, each.task, sum, scratch, output(step, each.task));
  }

  int bytes(const Message& message) const {
    int tasks = 0;
    for (const Tasks& each : message.outputs) tasks += each.count();
    return tasks * work_.cells * static_cast<int>(sizeof(Cell));
  }
  Cell* place(Message& message, int step) {
    return message.packed.empty() ? output(step, message.outputs.front().first)
                                  : message.packed.data();
  }
  void pack(Message& message, int step) {
    if (message.packed.empty()) return;
    Cell* to = message.packed.data();
    for (const Tasks& each : message.outputs)
      to = std::copy_n(output(step, each.first), each.count() * work_.cells, to);
  }
  void unpack(const Message& message, int step) {
    const Cell* from = message.packed.data();
    for (const Tasks& each : message.outputs) {
      if (message.packed.empty()) return;
      const int cells = each.count() * work_.cells;
      std::copy_n(from, cells, output(step, each.first));
      from += cells;
    }
  }

  /// The inputs of a task among those of a rank.
  std::vector<Tasks> inputs(int step, int task, int rank) const {
    const Tasks there = intersection(block(pattern_.width, rank), pattern_.tasks(step - 1));
    std::vector<Tasks> found;
    if (step == 0) return found;
    for (const Tasks& wanted : pattern_.inputs(pattern_.set_of(step), task))
      if (const Tasks part = intersection(wanted, there); part.count() > 0) found.push_back(part);
    return found;
  }
  /// What one rank needs of another in a step.
  Message message(int step, int from, int to, int other) const {
    std::vector<char> needed(static_cast<std::size_t>(pattern_.width), 0);
    const Tasks tasks = intersection(block(pattern_.width, to), pattern_.tasks(step));
    for (int task = tasks.first; task <= tasks.last; ++task)
      for (const Tasks& each : inputs(step, task, from))
        std::fill(needed.begin() + each.first, needed.begin() + each.last + 1, 1);
    Message found{other, {}};
    for (int task = 0; task < pattern_.width; ++task) {
      if (needed[static_cast<std::size_t>(task)] == 0) continue;
      if (!found.outputs.empty() && found.outputs.back().last == task - 1)
        found.outputs.back().last = task;
      else found.outputs.push_back({task, task});
    }
    if (found.outputs.size() > 1)
      found.packed.resize(static_cast<std::size_t>(bytes(found)) / sizeof(Cell));
    return found;
  }

  Plan& plan(int step) {
    const Tasks now = pattern_.tasks(step), before = pattern_.tasks(step - 1);
    std::unique_ptr<Plan>& plan =
        made_[{pattern_.set_of(step), now.first, now.last, before.first, before.last}];
    if (plan) return *plan;
    plan = std::make_unique<Plan>();
    const int own = own_rank();
    for (int rank = 0; rank < ranks(); ++rank) {
      if (rank == own) continue;
      if (Message m = message(step, rank, own, rank); !m.outputs.empty())
        plan->receive.push_back(m);
      if (Message m = message(step, own, rank, rank); !m.outputs.empty()) plan->send.push_back(m);
    }
    const Tasks tasks = intersection(block(pattern_.width, own), now);
    for (int task = tasks.first; task <= tasks.last; ++task) {
      Plan::Run run{task, {}};
      bool waits = false;
      for (int rank = 0; rank < ranks(); ++rank)
        for (const Tasks& each : inputs(step, task, rank)) {
          waits = waits || rank != own;
          if (!run.inputs.empty() && run.inputs.back().last == each.first - 1)
            run.inputs.back().last = each.last;
          else run.inputs.push_back(each);
        }
      (waits ? plan->after_wait : plan->before_wait).push_back(run);
    }
    return *plan;
  }

  Pattern pattern_;
  Work work_;
  std::vector<Cell> rows_[2];
  std::vector<double> scratch_;
  std::map<std::tuple<int, int, int, int, int>, std::unique_ptr<Plan>> made_;
  std::vector<Plan*> plans_;  ///< of each step
  std::vector<MPI_Request> requests_;
};

/// Collective.
Outcome run(const Setup& setup) {
  std::vector<std::unique_ptr<Graph>> graphs;
  graphs.reserve(setup.graphs.size());
  for (const Pattern& pattern : setup.graphs)
    graphs.push_back(std::make_unique<Graph>(pattern, setup.work));
  MPI_Barrier(MPI_COMM_WORLD);
  Outcome outcome;
  outcome.seconds = -MPI_Wtime();
  for (int step = 0; step < setup.steps(); ++step)
    for (const auto& graph : graphs) graph->run(step);
  outcome.seconds += MPI_Wtime();
  for (const auto& graph : graphs) graph->append_digests(outcome.digests);
  return outcome;
}

double answer(const peer::Request& request) {
  const Setup setup = peer::patterns_setup(request);
  run(peer::short_of(setup));
  const Outcome outcome = run(setup);
  if (own_rank() == 0) peer::check_patterns(setup, outcome.digests);
  return outcome.seconds * 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  if (!peer::is_rank()) return peer::run_under_mpirun(argv, argc > 1 ? argv[1] : "2");
  return peer::serve_on_ranks(answer);
}
