#include "support/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "refrain/context.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"
#include "support/attached_memory.hpp"
#include "support/body.hpp"
#include "support/dimensions.hpp"
#include "support/judge.hpp"
#include "support/make_partition.hpp"
#include "support/mapping_rule.hpp"
#include "support/some_sharding.hpp"
#include "support/text.hpp"

namespace refrain::test {

namespace {

/// Values where the runtime keeps them.
class PhysicalView : public View {
 public:
  PhysicalView(const ResolvedArgument& is, const Shape& shape, const PhysicalArgument& physical)
      : View(is, shape), shape_(&shape), physical_(&physical) {}
  void* at(int point) override {
    const Point<3>& p = shape_->points[static_cast<std::size_t>(point)];
    return argument().privilege == Privilege::reduce ? physical_->contribution(p)
                                                     : physical_->at(p);
  }
  /// Are the argument's points what they should be, in order?
  [[nodiscard]] bool right_points() const {
    return with_dim(shape_->dim, [&]<int N>(std::integral_constant<int, N>) {
      const detail::ArgumentPoints& is = *physical_->points;
      const Rect<N> bounds = detail::restore_dimension<N>(*is.bounds);
      Mask found = 0;
      std::size_t visited = 0;
      int last = -1;  // a shape's points stand in the order of the domain
      for (const Point<N>& p : Domain<N>(bounds, is.rects, is.rect_count)) {
        const int i = shape_->find(detail::erase_dimension(p));
        if (i <= last) return false;
        last = i;
        found |= Mask{1} << i;
        ++visited;
      }
      return found == argument().points && visited == static_cast<std::size_t>(count(found));
    });
  }

 private:
  const Shape* shape_;
  const PhysicalArgument* physical_;
};

/// What bodies throw, and who did so first, by what the program hears.
struct Thrown : std::runtime_error {
  explicit Thrown(int number) : std::runtime_error(fmt::format("thrown by {}", number)) {}
};
int cause_of(const std::string& text) {
  const std::string before = "thrown by ";
  const std::size_t at = text.rfind(before);
  return at == std::string::npos ? -2 : std::stoi(text.substr(at + before.size()));
}

class Run;

/// The by-value argument of every task.
struct Payload {
  Run* run;
  const Resolved* launch;
  std::atomic<int>* alive;  ///< of one execution

  Payload(Run* r, const Resolved* l, std::atomic<int>& count) : run(r), launch(l), alive(&count) {
    alive->fetch_add(1);
  }
  Payload(Payload&& other) noexcept : Payload(other.run, other.launch, *other.alive) {}
  Payload& operator=(Payload&&) = delete;
  ~Payload() { alive->fetch_sub(1); }
};

/// Names of one context: the program's, or a nested task's.
struct Names {
  Context* context;
  std::span<const PhysicalArgument> arguments;  ///< in nested tasks
  std::map<int, AnyRegion> regions;
  std::map<int, AnyPartition> partitions;

  [[nodiscard]] AnyRegion region(const RegionRef& ref, const ResolvedPartition* within) const {
    if (ref.partition >= 0) return partitions.at(ref.partition).piece(within->colour(ref.colour));
    if (!arguments.empty()) return arguments[static_cast<std::size_t>(ref.root)].points->region;
    return regions.at(ref.root);
  }
};

/// Breaks when the analysis has broken an invariant.
void check_invariants(Context& context) {
  context.impl().for_each_field(
      [](const analysis::FieldState& field) { field.check_invariants(); });
}

class Run {
 public:
  Run(const Program& program, RunOutcome& outcome, std::atomic<int>& payloads)
      : program_(program), outcome_(outcome), payloads_(payloads) {}

  /// Its tasks are made in the program: their slots are those of its world.
  void execute(Context& context) {
    for (std::size_t i = 0; i < program_.tasks.size(); ++i)
      tasks_.push_back(make_task(static_cast<int>(i), body, true));
    make_bare_tasks(program_.statements);
    Names names{&context, {}, {}, {}};
    std::map<int, ResolvedPartition> partitions;
    for (; executed_ < program_.statements.size(); ++executed_) try {
        execute(program_.statements[executed_], names, partitions);
      } catch (const TaskFailed& failed) { hear(failed); }
    check_invariants(context);
  }

  /// After the end: the program's own memory that nobody has detached holds the values now.
  void finish() { take_back(program_.left); }
  /// The program is told of a failure.
  void hear(const TaskFailed& failed) {
    outcome_.observed.push_back({executed_, {}, cause_of(failed.what())});
  }

  void complain(std::string text) {
    const std::lock_guard lock(mutex_);
    outcome_.complaints.push_back(std::move(text));
  }

 private:
  using Partitions = std::map<int, ResolvedPartition>;
  struct Attachment {
    const Resolved* by;
    AnyRegion region;
    AnyPartition partition;  ///< by pieces
    AnyField field;
    std::map<int, AttachedMemory> parts;  ///< those here, by piece
  };

  [[nodiscard]] DynamicTask make_task(int number, const std::function<void(const TaskFrame&)>& run,
                                      bool may_launch) const {
    const TaskSpec& spec = program_.tasks[static_cast<std::size_t>(number)];
    std::vector<TaskVariant> variants{{ProcessorKind::cpu, run, may_launch}};
    if (spec.gpu) variants.push_back({ProcessorKind::gpu, run, may_launch});
    return {fmt::format("t{}", number), variants,
            spec.returns ? ResultType{8, 8, nullptr} : ResultType{}};
  }
  void make_bare_tasks(const std::vector<Resolved>& statements);
  [[nodiscard]] const DynamicTask* bare_task(const Resolved& launch) const;

  static void body(const TaskFrame& frame) {
    const Payload& payload = *static_cast<const Payload*>(frame.values);
    payload.run->run_point(*payload.launch, frame);
  }

  void execute(const Resolved& r, Names& names, Partitions& partitions);
  void create(const Resolved& r, Names& names);
  AnyPartition partition(const Resolved& r, const Names& names, const Partitions& partitions);
  void launch(const Resolved& r, const Names& names, const Partitions& partitions);
  void access(const Resolved& r, const AnyRegion& region, const Names& names);
  void attach(const Resolved& r, const Names& names, const Partitions& partitions);
  void attach_pieces(const Resolved& r, const AnyPartition& partition, Context& context);
  void end(const Resolved& r, Context& context, const Names& names);
  /// Names are shared by all contexts of the program.
  const Trace& trace(int id) {
    const std::lock_guard lock(mutex_);
    return traces_.try_emplace(id, fmt::format("trace {}", id)).first->second;
  }
  void observe(std::vector<std::byte> values) {
    outcome_.observed.push_back({executed_, std::move(values), -1});
  }
  void take_back(const std::vector<Detached>& ended);
  void observe(const Attachment& ended);
  void run_point(const Resolved& r, const TaskFrame& frame);
  void run_children(const PointTask& task, const TaskFrame& frame);

  const Shape& shape(int tree) const { return program_.shape(tree); }
  AnyField field(int tree, int index) const {
    return field_of(shape(tree).fields[static_cast<std::size_t>(index)], index);
  }
  static AnyRegion region(const RegionRef& ref, const Names& names, const Partitions& partitions) {
    return names.region(ref, ref.partition >= 0 ? &partitions.at(ref.partition) : nullptr);
  }

  const Program& program_;
  RunOutcome& outcome_;
  std::atomic<int>& payloads_;
  std::mutex mutex_;
  std::vector<DynamicTask> tasks_;
  /// Of a bare launch the task itself knows the points and arguments.
  struct Bare {
    const Resolved* launch;
    DynamicTask task;
  };
  std::vector<Bare>
      bare_;  ///< made before the program runs, so that their slots are the same in every run
  std::map<int, AnyFuture> futures_;
  std::map<int, Trace> traces_;  ///< under mutex_
  std::map<int, Attachment> attachments_;
  std::size_t executed_ = 0;  ///< statements of the program
};

Projection projection_of(const ProjectionSpec& p) {
  switch (p.kind) {
    case ProjectionSpec::Kind::identity: return {};
    case ProjectionSpec::Kind::function: return Projection::function("spread", spread, p.key);
    default: break;
  }
  return Projection::affine({{{p.scale[0], 0, 0}, {0, p.scale[1], 0}, {0, 0, p.scale[2]}}},
                            p.offset);
}

void Run::execute(const Resolved& r, Names& names, Partitions& partitions) {
  using Kind = Statement::Kind;
  const Statement& s = r.spec;
  Context& context = *names.context;
  const auto here = std::source_location::current();
  switch (s.kind) {
    case Kind::create: create(r, names); break;
    case Kind::partition:
      partitions[s.id] = r.partition;
      names.partitions[s.id] = partition(r, names, partitions);
      break;
    case Kind::attach: attach(r, names, partitions); break;
    case Kind::destroy_region:
    case Kind::detach: end(r, context, names); break;
    case Kind::destroy_partition: context.destroy(names.partitions.at(s.id)); break;
    case Kind::fill: {
      std::byte value[max_value_size]{};
      write_value(shape(r.target.tree).fields[static_cast<std::size_t>(r.target.field)], value,
                  s.salt);
      context.fill_bytes(region(s.target.region, names, partitions),
                         field(r.target.tree, r.target.field), value, here);
      break;
    }
    case Kind::fill_future:
      context.fill_future(region(s.target.region, names, partitions),
                          field(r.target.tree, r.target.field), futures_.at(s.future), here);
      break;
    case Kind::launch: launch(r, names, partitions); break;
    case Kind::reduce: {
      const AnyFuture& values = futures_.at(s.future);
      futures_[s.id] = AnyFuture(context.reduce_futures(values, op_of(s.op, r.value), here));
      break;
    }
    case Kind::copy:
      context.copy_fields(
          region(s.source.region, names, partitions), field(r.source.tree, r.source.field),
          region(s.target.region, names, partitions), field(r.target.tree, r.target.field), here);
      break;
    case Kind::access: access(r, region(s.target.region, names, partitions), names); break;
    case Kind::get: {
      const AnyFuture& future = futures_.at(s.future);
      future.wait();
      for (std::size_t rank = 0; rank < future.points(); ++rank) {
        const auto* value = static_cast<const std::byte*>(future.value(rank));
        observe({value, value + 8});
      }
      break;
    }
    case Kind::fence: context.fence(); break;
    case Kind::begin_trace: context.begin_trace(trace(s.id)); break;
    case Kind::end_trace: context.end_trace(trace(s.id)); break;
    case Kind::remap: MappingRule::next_phase(context.impl().runtime.mapper()); break;
  }
}

void Run::create(const Resolved& r, Names& names) {
  const Shape& of = shape(r.tree);
  std::vector<AnyField> fields;
  for (std::size_t f = 0; f < of.fields.size(); ++f)
    fields.push_back(field_of(of.fields[f], static_cast<int>(f)));
  names.regions[r.spec.id] = with_dim(of.dim, [&]<int N>(std::integral_constant<int, N>) {
    return names.context->make_region(space_of<N>(of, of.all()), fields);
  });
}

AnyPartition Run::partition(const Resolved& r, const Names& names, const Partitions& partitions) {
  const PartitionSpec& p = r.spec.partition;
  const AnyPartition none;
  const AnyRegion parent =
      p.a < 0 || by_data(p.op) ? region(p.parent, names, partitions) : AnyRegion{};
  const AnyPartition made = make_partition(*names.context, program_, r, parent,
                                           p.a >= 0 ? names.partitions.at(p.a) : none,
                                           p.b >= 0 ? names.partitions.at(p.b) : none);
  Mask covered = 0;
  int total = 0;
  for (const Mask m : r.partition.pieces) {
    covered |= m;
    total += count(m);
  }
  if (made.pieces() != r.partition.pieces.size())
    complain(fmt::format("partition {} has {} pieces", r.spec.id, made.pieces()));
  if (made.is_disjoint() != (count(covered) == total))
    complain(fmt::format("partition {}: is_disjoint() is wrong", r.spec.id));
  if (made.is_complete() != (covered == r.partition.parent))
    complain(fmt::format("partition {}: is_complete() is wrong", r.spec.id));
  return made;
}

void Run::launch(const Resolved& r, const Names& names, const Partitions& partitions) {
  const LaunchSpec& l = r.spec.launch;
  std::vector<Requirement> requirements;
  for (std::size_t i = 0; i < l.requirements.size(); ++i) {
    const RequirementSpec& q = l.requirements[i];
    const ResolvedArgument& is = r.points[0].arguments[i];
    const AnyField f = field(is.tree, is.field);
    const ReductionOp* op =
        q.privilege == Privilege::reduce
            ? &op_of(q.op, shape(is.tree).fields[static_cast<std::size_t>(is.field)])
            : nullptr;
    requirements.push_back(
        q.partitioned ? Requirement::of(names.partitions.at(q.partition), f, q.privilege, op,
                                        projection_of(q.projection))
                      : Requirement::of(region(q.region, names, partitions), f, q.privilege, op));
    requirements.back().relaxed = is.relaxed;
  }
  Payload payload(this, &r, payloads_);
  std::vector<detail::FutureState*> states;
  states.reserve(l.futures.size());
  for (const int f : l.futures) states.push_back(futures_.at(f).state());
  const DomainSpec& points = l.domain;
  const AnyIndexSpace sparse(points.dim, points.points);
  const LaunchDomain domain =
      points.dense ? LaunchDomain(points.dim, {points.points.front(), points.points.back()})
                   : LaunchDomain(sparse);
  LaunchRequest request;
  const DynamicTask& task = l.bare ? *bare_task(r) : tasks_[static_cast<std::size_t>(l.task)];
  request.task = task.record().get();
  request.domain = l.domain.group ? &domain : nullptr;
  request.requirements = requirements;
  if (!l.bare) {
    request.values = &payload;
    request.value_ops = &value_ops<Payload>;
  }
  request.futures = states;
  request.hints = {l.priority, l.inline_if_ready};
  request.where = std::source_location::current();
  request.wants_future = l.future >= 0;
  AnyFuture future = names.context->launch(request);
  if (l.future >= 0) futures_[l.future] = std::move(future);
}

void Run::make_bare_tasks(const std::vector<Resolved>& statements) {
  for (const Resolved& r : statements) {
    if (r.spec.kind == Statement::Kind::launch && r.spec.launch.bare && bare_task(r) == nullptr)
      bare_.push_back(
          {&r, make_task(
                   r.spec.launch.task, [this, &r](const TaskFrame& frame) { run_point(r, frame); },
                   false)});
    for (const PointTask& point : r.points) make_bare_tasks(point.children);
  }
}

/// The task of all bare launches of the same points with the same arguments.
const DynamicTask* Run::bare_task(const Resolved& launch) const {
  const auto same_point = [](const PointTask& a, const PointTask& b) {
    return a.point == b.point && a.arguments == b.arguments;
  };
  const auto found = std::ranges::find_if(bare_, [&](const Bare& bare) {
    return bare.launch->spec.launch.task == launch.spec.launch.task &&
           std::ranges::equal(bare.launch->points, launch.points, same_point);
  });
  return found == bare_.end() ? nullptr : &found->task;
}

void Run::run_point(const Resolved& r, const TaskFrame& frame) {
  if (frame.rank >= r.points.size() || frame.point != r.points[frame.rank].point)
    return complain(
        fmt::format("task t{}: wrong point or rank {}", r.spec.launch.task, frame.rank));
  const PointTask& task = r.points[frame.rank];
  if (frame.arguments.size() != task.arguments.size())
    return complain(
        fmt::format("task t{}: {} arguments", r.spec.launch.task, frame.arguments.size()));
  std::vector<PhysicalView> views;
  std::vector<View*> arguments;
  for (std::size_t i = 0; i < task.arguments.size(); ++i)
    views.emplace_back(task.arguments[i], shape(task.arguments[i].tree), frame.arguments[i]);
  for (PhysicalView& view : views) {
    if (!view.right_points())
      return complain(fmt::format("task t{}: an argument's domain is wrong", r.spec.launch.task));
    arguments.push_back(&view);
  }
  std::vector<std::uint64_t> futures;
  for (const AnyFuture& f : frame.futures)
    futures.push_back(value_bits(ValueKind::i64, detail::ready_value(*f.state())));
  const std::uint64_t digest = run_body(r.spec.launch.salt, task.point, futures, arguments);
  if (task.throws == PointTask::Throws::early) throw Thrown(task.number);
  const TaskSpec& spec = program_.tasks[static_cast<std::size_t>(r.spec.launch.task)];
  if (spec.returns && frame.result != nullptr) make_result(spec.result, digest, frame.result);
  if (!task.children.empty()) run_children(task, frame);
  if (task.throws == PointTask::Throws::late) throw Thrown(task.number);
}

void Run::run_children(const PointTask& task, const TaskFrame& frame) {
  Names names{&frame.context(), frame.arguments, {}, {}};
  const CurrentParent parent(&task);  // the body waits by its context from here on
  Partitions partitions;
  for (const Resolved& child : task.children) execute(child, names, partitions);
  check_invariants(frame.context());
}

void Run::access(const Resolved& r, const AnyRegion& of, const Names& names) {
  PhysicalArgument physical;
  const std::uint64_t ticket =
      names.context->begin_access(of, field(r.target.tree, r.target.field), r.target.privilege,
                                  physical, std::source_location::current());
  PhysicalView view(r.target, shape(r.target.tree), physical);
  View* views[] = {&view};
  if (!view.right_points()) complain("an access's domain is wrong");
  else run_body(r.spec.salt, {}, {}, views);
  observe(contents(view));
  names.context->end_access(ticket);
}

void Run::attach(const Resolved& r, const Names& names, const Partitions& partitions) {
  Attachment& made = attachments_[r.spec.id];
  made.by = &r;
  made.field = field(r.target.tree, r.target.field);
  if (r.spec.target.partitioned)
    return attach_pieces(r, names.partitions.at(r.spec.target.partition), *names.context);
  made.region = region(r.spec.target.region, names, partitions);
  AttachedMemory& memory =
      made.parts.try_emplace(0, shape(r.target.tree), r.target, r.spec.salt, r.spec.memory)
          .first->second;
  names.context->attach_memory(made.region, made.field, memory.data(), memory.layout(),
                               std::source_location::current());
}

void Run::attach_pieces(const Resolved& r, const AnyPartition& partition, Context& context) {
  Attachment& made = attachments_.at(r.spec.id);
  made.partition = partition;
  const ResolvedPartition& by = r.partition;
  const auto memory_of = [&](const Point<3>& colour) -> PlacedMemory {
    const int piece = by.find(colour);
    ResolvedArgument part = r.target;
    part.points = by.pieces[static_cast<std::size_t>(piece)];
    const auto [added, is_new] =
        made.parts.try_emplace(piece, shape(part.tree), part, r.spec.salt, r.spec.memory);
    if (!is_new) complain("the memory of a piece is asked for twice");
    return {added->second.data(), added->second.layout()};
  };
  const Point<3> last{by.colours[0] - 1, by.colours[1] - 1, by.colours[2] - 1};
  context.attach_pieces(
      partition, made.field, memory_of,
      some_sharding(attached_name, by.colour_dim, {{0, 0, 0}, last}, program_.seed),
      std::source_location::current());
}

void Run::end(const Resolved& r, Context& context, const Names& names) {
  try {
    if (r.spec.kind == Statement::Kind::destroy_region) {
      context.destroy(names.regions.at(r.spec.id));
    } else {
      const Attachment& ended = attachments_.at(r.spec.id);
      const auto here = std::source_location::current();
      if (ended.by->spec.target.partitioned)
        context.detach_pieces(ended.partition, ended.field, here);
      else context.detach_memory(ended.region, ended.field, here);
    }
  } catch (const TaskFailed& failed) { hear(failed); }
  take_back(r.detached);
}

void Run::take_back(const std::vector<Detached>& ended) {
  for (const Detached& end : ended) {
    const Attachment& was = attachments_.at(end.id);
    for (const auto& [piece, memory] : was.parts)
      if (!memory.intact()) complain(fmt::format("attachment {}: bytes beside the values", end.id));
    if (!end.lost) observe(was);
    attachments_.erase(end.id);
  }
}

/// The values of all points, as far as they are here.
void Run::observe(const Attachment& ended) {
  const ResolvedArgument& is = ended.by->target;
  const Shape& of = shape(is.tree);
  const std::size_t size = size_of(of.fields[static_cast<std::size_t>(is.field)]);
  const auto part_with = [&](int point) {
    return std::ranges::find_if(ended.parts, [&](const auto& part) {
      return !ended.by->spec.target.partitioned ||
             has(ended.by->partition.pieces[static_cast<std::size_t>(part.first)], point);
    });
  };
  Observation seen{executed_, {}, -1};
  for (int i = 0; i < max_points; ++i) {
    if (!has(is.points, i)) continue;
    const auto part = part_with(i);
    const bool here = part != ended.parts.end();
    seen.elsewhere.insert(seen.elsewhere.end(), size, !here);
    if (!here) {
      seen.values.insert(seen.values.end(), size, std::byte{});
      continue;
    }
    const std::byte* const value = part->second.at(of.points[static_cast<std::size_t>(i)]);
    seen.values.insert(seen.values.end(), value, value + size);
  }
  outcome_.observed.push_back(std::move(seen));
}

}  // namespace

RunOutcome execute(Runtime& runtime, const Program& program) {
  RunOutcome outcome;
  std::atomic<int> payloads{0};
  {
    Run run(program, outcome, payloads);
    try {
      try {
        runtime.run([&](Context& context) { run.execute(context); });
      } catch (const TaskFailed& failed) { run.hear(failed); }
      run.finish();
    } catch (const std::exception& error) { run.complain(fmt::format("threw: {}", error.what())); }
  }
  if (const int left = payloads; left != 0)
    outcome.complaints.push_back(fmt::format("{} by-value arguments were not destroyed", left));
  return outcome;
}

namespace {

/// The type of the values that a statement lets the program see.
ValueKind kind_seen(const Program& program, std::size_t statement) {
  if (statement >= program.statements.size()) return ValueKind::f64;
  const Resolved& r = program.statements[statement];
  using Kind = Statement::Kind;
  if (r.spec.kind == Kind::get || r.spec.kind == Kind::destroy_region) return ValueKind::f64;
  return program.shape(r.target.tree).fields[static_cast<std::size_t>(r.target.field)];
}

bool is_as_expected(const Observation& want, const Observation& got) {
  if (want.statement != got.statement || want.failure != got.failure ||
      want.values.size() != got.values.size())
    return false;
  for (std::size_t i = 0; i < want.values.size(); ++i)
    if (want.values[i] != got.values[i] && (got.elsewhere.empty() || !got.elsewhere[i]))
      return false;
  return true;
}

std::string difference(const Program& program, const Observation& want, const Observation& got) {
  const std::size_t at = want.statement;
  std::string text =
      "differs: " + (at < program.statements.size() ? to_text(program, program.statements[at])
                                                    : std::string("what is attached at the end\n"));
  if (want.failure != got.failure)
    return text +
           fmt::format("  expected the failure of {}, found {}\n", want.failure, got.failure);
  if (want.statement != got.statement || want.values.size() != got.values.size())
    return text + "  something else is seen there\n";
  const ValueKind kind = kind_seen(program, at);
  for (std::size_t i = 0; i + size_of(kind) <= want.values.size(); i += size_of(kind))
    if (std::memcmp(&want.values[i], &got.values[i], size_of(kind)) != 0)
      text += fmt::format("  value {}: expected {}, found {}\n", i / size_of(kind),
                          value_text(kind, &want.values[i]), value_text(kind, &got.values[i]));
  return text;
}

}  // namespace

std::string compare(const Program& program, const std::vector<Observation>& expected,
                    const RunOutcome& outcome) {
  std::string text;
  for (const std::string& complaint : outcome.complaints) text += complaint + "\n";
  for (std::size_t n = 0; n < std::min(expected.size(), outcome.observed.size()); ++n)
    if (!is_as_expected(expected[n], outcome.observed[n]))
      return text + difference(program, expected[n], outcome.observed[n]);
  if (text.empty() && outcome.observed.size() != expected.size()) text = "the run ended early\n";
  return text;
}

}  // namespace refrain::test
