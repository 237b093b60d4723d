#include "parallel.hpp"

#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "../common/host_task.hpp"

namespace patterns {

namespace {

using namespace refrain;
using apps::host_task;

// The outputs of even and of odd steps. Task t's are the points from t * cells on.
constexpr Field<Cell> rows[]{Field<Cell>{"even steps"}, Field<Cell>{"odd steps"}};
constexpr Field<double> scratch{"scratch"};

// Which step it is, which tasks it has, and which ones the step before had.
struct Now {
  std::int32_t step;
  Tasks tasks;
  Tasks before;
};

// The body of all tasks, which differ in their arguments.
struct Body {
  Work work;
  int graph;
  apps::Progress* progress;

  Rect1 points(Tasks tasks) const {
    return {Coord{tasks.first} * work.cells, Coord{tasks.last + 1} * work.cells - 1};
  }
  Tasks tasks(const Rect1& points) const {
    if (work.cells == 1) return {static_cast<int>(points.lo[0]), static_cast<int>(points.hi[0])};
    return {static_cast<int>(points.lo[0] / work.cells),
            static_cast<int>(points.hi[0] / work.cells)};
  }

  std::uint64_t check(const Read<Cell>& in, const Now& now) const {
    const Domain<1> all = in.domain();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < all.rect_count(); ++i) {
      const Tasks there = intersection(tasks(all.rect(i)), now.before);
      if (there.count() <= 0) continue;
      const Rect1 read = points(there);
      sum += check_inputs(in.row(read.lo, read.volume()).data(), there, now.step - 1, work.cells);
    }
    return sum;
  }
  void run(const Write<Cell>& out, const Point<1>& task, const Now& now, std::uint64_t sum,
           std::span<double> own_scratch) const {
    const auto cells = static_cast<std::size_t>(work.cells);
    run_task(work, graph, now.step, static_cast<int>(task[0]), sum, own_scratch,
             out.row(out.domain().bounds().lo, cells).data());
    if (progress != nullptr && task[0] == now.tasks.first) progress->step();
  }
};

std::span<double> all_of(const ReadWrite<double>& values) {
  const Rect1 points = values.domain().bounds();
  return values.row(points.lo, points.volume());
}

struct Begin : Body {
  void operator()(const Write<Cell>& out, Point<1> task, Now now) const {
    run(out, task, now, 0, {});
  }
};
struct BeginInScratch : Body {
  void operator()(const Write<Cell>& out, const ReadWrite<double>& own, Point<1> task,
                  Now now) const {
    run(out, task, now, 0, all_of(own));
  }
};
struct Step : Body {
  void operator()(const Write<Cell>& out, const Read<Cell>& in, Point<1> task, Now now) const {
    run(out, task, now, check(in, now), {});
  }
};
struct StepInScratch : Body {
  void operator()(const Write<Cell>& out, const Read<Cell>& in, const ReadWrite<double>& own,
                  Point<1> task, Now now) const {
    run(out, task, now, check(in, now), all_of(own));
  }
};

class Graph {
 public:
  Graph(Context& ctx, const Pattern& pattern, const Work& work, apps::Progress* progress)
      : ctx_(ctx),
        pattern_(pattern),
        body_{work, pattern.graph, progress},
        cells_(ctx.region(body_.points({0, pattern.width - 1}), rows[0], rows[1])),
        own_(ctx.blocks(cells_, pattern.width)) {
    // A piece may have outputs that the step before does not leave. They are there, and nobody looks at them.
    for (const Field<Cell>& row : rows) ctx.fill(cells_, row, Cell{});
    for (int set = 0; set < pattern.sets(); ++set) inputs_.push_back(partition_inputs(set));
    if (work.kernel == Kernel::memory) {
      const auto all = ctx.region(Rect1{0, work.scratch * pattern.width - 1}, scratch);
      ctx.fill(all, scratch, 0.0);
      scratch_ = std::make_unique<Scratch>(Scratch{all, ctx.blocks(all, pattern.width)});
    }
  }
  ~Graph() {
    ctx_.destroy(cells_);
    if (scratch_ != nullptr) ctx_.destroy(scratch_->all);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(int step) const {
    const Now now{step, pattern_.tasks(step), pattern_.tasks(step - 1)};
    const Rect1 domain{now.tasks.first, now.tasks.last};
    const auto output = own_[row(step)];
    if (step == 0 || pattern_.kind == Kind::trivial) {
      if (scratch_ == nullptr) ctx_.launch(begin_, domain, output, now);
      else ctx_.launch(begin_in_scratch_, domain, output, scratch_->own[scratch], now);
    } else {
      const auto input = inputs_[static_cast<std::size_t>(pattern_.set_of(step))][row(step - 1)];
      if (scratch_ == nullptr) ctx_.launch(step_, domain, output, input, now);
      else ctx_.launch(step_in_scratch_, domain, output, input, scratch_->own[scratch], now);
    }
  }

  // Of the last step's tasks.
  void append_digests(std::vector<std::uint64_t>& digests) const {
    const int last = pattern_.steps - 1;
    const Tasks tasks = pattern_.tasks(last);
    const auto outputs = ctx_.access<Read>(cells_[row(last)]);
    for (int task = tasks.first; task <= tasks.last; ++task)
      digests.push_back(outputs[body_.points({task, task}).lo].digest);
  }

 private:
  static const Field<Cell>& row(int step) { return rows[step & 1]; }

  Partition<1> partition_inputs(int set) const {
    std::vector<IndexSpace<1>> pieces;
    for (int task = 0; task < pattern_.width; ++task) {
      std::vector<Rect1> needed;
      for (const Tasks& tasks : pattern_.inputs(set, task)) needed.push_back(body_.points(tasks));
      pieces.emplace_back(needed);
    }
    return ctx_.partition(cells_, pieces);
  }

  Context& ctx_;
  Pattern pattern_;
  Body body_;
  Task<Begin> begin_ = host_task("begin", Begin{body_});
  Task<BeginInScratch> begin_in_scratch_ = host_task("begin", BeginInScratch{body_});
  Task<Step> step_ = host_task("step", Step{body_});
  Task<StepInScratch> step_in_scratch_ = host_task("step", StepInScratch{body_});
  Region<1> cells_;
  Partition<1> own_;
  std::vector<Partition<1>> inputs_;  // by set
  struct Scratch {
    Region<1> all;
    Partition<1> own;
  };
  std::unique_ptr<Scratch> scratch_;  // null: the kernel needs none
};

// Steps after which all graphs' rows and sets are the same again.
int steps_of_trace(const Setup& setup) {
  int steps = 2;
  for (const Pattern& graph : setup.graphs) steps = std::lcm(steps, graph.sets());
  return steps;
}

// Whether all graphs have all their tasks from the step before this one to the last of `count`.
bool is_steady(const Setup& setup, int step, int count) {
  for (const Pattern& graph : setup.graphs)
    for (int s = step - 1; s < step + count; ++s)
      if (s < 0 || s >= graph.steps || graph.tasks(s).count() < graph.width) return false;
  return true;
}

}  // namespace

Outcome run_parallel(Context& ctx, const Setup& setup, apps::Progress* progress) {
  std::vector<std::unique_ptr<Graph>> graphs;
  graphs.reserve(setup.graphs.size());
  for (const Pattern& pattern : setup.graphs)
    graphs.push_back(std::make_unique<Graph>(ctx, pattern, setup.work, progress));
  const Trace some_steps{"steps"};
  const int length = steps_of_trace(setup);
  ctx.fence();
  const apps::Timer timer;
  int end_of_trace = -1;
  for (int step = 0; step < setup.steps(); ++step) {
    if (setup.trace && step % length == 0 && is_steady(setup, step, length)) {
      ctx.begin_trace(some_steps);
      end_of_trace = step + length - 1;
    }
    for (const auto& graph : graphs) graph->launch(step);
    if (step == end_of_trace) ctx.end_trace(some_steps);
  }
  ctx.fence();
  Outcome outcome;
  outcome.seconds = timer.seconds();
  for (const auto& graph : graphs) graph->append_digests(outcome.digests);
  return outcome;
}

}  // namespace patterns
