#include "report/capture.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>

#include "data/projection.hpp"
#include "launch/future_state.hpp"
#include "launch/launch_plan.hpp"
#include "machine/machine.hpp"
#include "memory/mover.hpp"
#include "refrain/error.hpp"
#include "refrain/trace.hpp"

namespace refrain::runtime {

using capture::kNone;

// --- durations -----------------------------------------------------------------------------------------

void DurationSamples::add(std::uint64_t bytes, std::uint64_t ns, double waits) {
  if (volumes_.size() >= kVolumes && !volumes_.contains(bytes) && bytes > 0) {
    const int low =
        std::max(0, static_cast<int>(std::bit_width(bytes)) - 5);  // steps of a sixteenth
    bytes = bytes >> low << low;
  }
  Volume& volume = volumes_[bytes];
  ++volume.count;
  volume.waits += waits;
  ++runs_;
  if (volume.ns.size() < kSamples) {
    volume.ns.push_back(ns);
  } else {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t at = (random_ >> 11) % volume.count;
    if (at < kSamples) volume.ns[at] = ns;
  }
}

namespace {

/// What so many tenths of the values are below.
double quantile(std::vector<double>& values, std::size_t tenths) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() * tenths / 10);
  std::ranges::nth_element(values, at);
  return *at;
}

/// In seconds. An outlier, which something else on the machine has held up, is farther from the median than ten times the
/// median of these distances, and than twice what nine of ten of them are below: a task whose name stands for short ones
/// and long ones has both.
std::vector<double> without_outliers(const std::vector<std::uint64_t>& ns) {
  std::vector<double> seconds, distances;
  seconds.reserve(ns.size());
  distances.reserve(ns.size());
  for (const std::uint64_t each : ns) seconds.push_back(static_cast<double>(each) * 1e-9);
  std::vector<double> sorted = seconds;
  const double median = quantile(sorted, 5);
  for (const double each : seconds) distances.push_back(std::abs(each - median));
  const double most =
      std::max({10 * quantile(distances, 5), 2 * quantile(distances, 9), 0.1 * median});
  std::erase_if(seconds, [&](double each) { return std::abs(each - median) > most; });
  return seconds;
}

}  // namespace

capture::Costs DurationSamples::costs() const {
  capture::Costs costs;
  for (const auto& [bytes, volume] : volumes_) {
    const std::vector<double> kept = without_outliers(volume.ns);
    double sum = 0, squares = 0;
    for (const double seconds : kept) sum += seconds;
    const double mean = sum / static_cast<double>(kept.size());
    for (const double seconds : kept) squares += std::pow(seconds - mean, 2);
    costs.push_back({bytes, volume.count, mean, squares / static_cast<double>(kept.size()),
                     std::min(mean, volume.waits / static_cast<double>(volume.count))});
  }
  return costs;
}

// --- what is captured ------------------------------------------------------------------------------------

CaptureFile::CaptureFile(const std::string& path, const Machine& machine)
    : ReportFile(path, "captured program") {
  program_.shared_writes = waits_.shared_writes();
  program_.name = ::program_invocation_short_name;
  program_.machine = machine::to_json(machine);
}

CaptureFile::Number CaptureFile::space(const data::IndexSpaceRef& points) {
  const auto [at, added] =
      spaces_.try_emplace(points.get(), static_cast<Number>(program_.spaces.size()));
  if (added) program_.spaces.push_back(points);
  return at->second;
}

CaptureFile::Number CaptureFile::field(const AnyField& field) {
  const capture::Field wanted{std::string(field.name), std::string(field.type->name),
                              field.type->size, field.type->alignment};
  const auto known = std::ranges::find(program_.fields, wanted);
  const auto at = static_cast<Number>(known - program_.fields.begin());
  if (known == program_.fields.end()) program_.fields.push_back(wanted);
  return at;
}

CaptureFile::Number CaptureFile::task(const detail::TaskRecord& record) {
  const auto [at, added] =
      tasks_.try_emplace(record.id(), static_cast<Number>(program_.tasks.size()));
  if (!added) return at->second;
  capture::Task task;
  task.name = record.name();
  for (const TaskVariant& variant : record.variants()) task.variants.push_back(variant.kind);
  task.result_size = record.result().size;
  task.result_alignment = record.result().alignment;
  program_.tasks.push_back(std::move(task));
  return at->second;
}

CaptureFile::Number CaptureFile::op(const ReductionOp& op) {
  // The name of a field of this type, which need not be one of a region.
  const Number type = field(AnyField("", *op.type));
  const auto known = std::ranges::find_if(program_.operators, [&](const capture::Operator& each) {
    return each.name == op.name && each.field_type == type;
  });
  const auto at = static_cast<Number>(known - program_.operators.begin());
  if (known == program_.operators.end()) program_.operators.push_back({std::string(op.name), type});
  return at;
}

CaptureFile::Number CaptureFile::projection(const Projection& projection,
                                            const data::IndexSpaceRef& domain) {
  const Projection::Impl* impl = projection.impl();
  if (impl == nullptr) return kNone;
  const bool is_affine = impl->function == nullptr;
  const auto [at, added] = projections_.try_emplace(
      {impl, is_affine ? nullptr : domain.get()},
      std::pair(static_cast<Number>(program_.projections.size()), projection));
  if (!added) return at->second.first;
  capture::Projection made{impl->name, impl->matrix, impl->offset};
  if (!is_affine) {
    made.domain = space(domain);
    domain->for_each_point(
        [&](const data::BoxPoint& point) { made.colours.push_back(impl->apply(point)); });
  }
  program_.projections.push_back(std::move(made));
  return at->second.first;
}

namespace {

// The first word of all that a region or a partition is.
constexpr std::uint64_t kRegion = 0, kPartition = 1;

}  // namespace

CaptureFile::Number CaptureFile::region(const AnyRegion& made) {
  capture::Region region{space(made.tree->node(0).space), {}};
  Words words{kRegion, made.tree->slot(), region.points};
  for (const data::FieldColumn& column : made.tree->fields()) {
    region.fields.push_back(field(AnyField(column.name, column.type)));
    words.push_back(region.fields.back());
  }
  const auto [at, added] =
      known_.try_emplace(std::move(words), static_cast<Number>(program_.regions.size()));
  if (added) program_.regions.push_back(std::move(region));
  return number_of_[{made.tree, kNone}] = at->second;
}

CaptureFile::Number CaptureFile::partition(const AnyPartition& made) {
  const data::PartitionNode& node = made.tree->partition(made.index);
  capture::Partition partition{
      place(made.tree->handle(node.parent)), space(node.colours), {}, node.kind};
  Words words{kPartition, partition.of.region, partition.of.partition, partition.of.piece,
              partition.colours};
  for (const data::IndexSpaceRef& piece : made.tree->pieces_of(node)) {
    partition.pieces.push_back(space(piece));
    words.push_back(partition.pieces.back());
  }
  const auto [at, added] =
      known_.try_emplace(std::move(words), static_cast<Number>(program_.partitions.size()));
  if (added) program_.partitions.push_back(std::move(partition));
  return number_of_[{made.tree, made.index}] = at->second;
}

bool CaptureFile::knows(const AnyRegion& region) const {
  return region.tree != nullptr && number_of_.contains({region.tree, kNone}) &&
         region.tree->names_living(region);
}

capture::Place CaptureFile::place(const AnyRegion& region) const {
  const data::RegionNode& node = region.tree->node(region.node);
  if (node.partition == data::RegionNode::none) return {number_of_.at({region.tree, kNone})};
  return {kNone, number_of_.at({region.tree, node.partition}), node.rank};
}

capture::Argument CaptureFile::argument(const Requirement& r, const data::IndexSpaceRef& domain) {
  capture::Argument argument;
  if (r.partition.tree != nullptr)
    argument.partition = number_of_.at({r.partition.tree, r.partition.index});
  else argument.region = place(r.region);
  argument.field = field(r.field);
  argument.privilege = r.privilege;
  if (r.op != nullptr) argument.op = op(*r.op);
  argument.relaxed = r.relaxed;
  argument.projection = projection(r.projection, domain);
  return argument;
}

void CaptureFile::add_future(capture::Call& call, const detail::FutureState* future) const {
  const auto made = made_at_.find(future->call);
  if (made != made_at_.end()) call.futures.push_back(position_ - made->second);
}

// False: the call is about to be refused.
bool CaptureFile::describe_launch(const LaunchRequest& launch, capture::Call& call) {
  if (launch.task == nullptr) return false;
  for (const Requirement& r : launch.requirements) {
    const bool is_known = r.partition.tree != nullptr
                              ? number_of_.contains({r.partition.tree, r.partition.index}) &&
                                    r.partition.tree->names_living(r.partition)
                              : knows(r.region);
    if (!is_known || r.field.type == nullptr) return false;
  }
  call.task = task(*launch.task);
  const data::IndexSpaceRef domain = detail::domain_of(launch);
  if (launch.domain != nullptr) call.domain = space(domain);
  for (const Requirement& r : launch.requirements) call.arguments.push_back(argument(r, domain));
  for (const detail::FutureState* future : launch.futures)
    if (future != nullptr) add_future(call, future);
  if (launch.value_ops != nullptr) call.value_bytes = launch.value_ops->size;
  call.priority = launch.hints.priority;
  call.inline_if_ready = launch.hints.inline_if_ready;
  call.wants_future = launch.wants_future;
  return true;
}

// Traces of one name are told apart.
const std::string& CaptureFile::trace(const Trace& trace) {
  const auto [at, added] = traces_.try_emplace(trace.id(), trace.name());
  if (!added) return at->second;
  const auto others = std::ranges::count_if(traces_, [&](const auto& each) {
    return each.first != trace.id() &&
           (each.second == trace.name() || each.second.starts_with(trace.name() + " #"));
  });
  if (others > 0) at->second += " #" + std::to_string(others + 1);
  return at->second;
}

bool CaptureFile::describe(const ProgramCall& told, capture::Call& call) {
  using Kind = capture::CallKind;
  call.kind = told.kind;
  call.file = told.where.file_name();
  call.line = told.where.line();
  call.privilege = told.privilege;
  switch (told.kind) {
    case Kind::region: call.region = region(*told.region); return true;
    case Kind::partition: call.partition = partition(*told.partition); return true;
    case Kind::destroy_region: call.region = number_of_.at({told.region->tree, kNone}); return true;
    case Kind::destroy_partition:
      call.partition = number_of_.at({told.partition->tree, told.partition->index});
      return true;
    case Kind::launch: return describe_launch(*told.launch, call);
    case Kind::reduce: call.op = op(*told.op); break;
    case Kind::end_access: {
      const auto open = open_.extract(told.ticket);
      if (open.empty()) return false;
      call.back = position_ - open.mapped().position;
      Held& held = held_[open.mapped().call];
      ++held.count;
      held.ns += profile::now_ns() - open.mapped().begin_ns;
      return true;
    }
    case Kind::begin_trace:
    case Kind::end_trace: call.trace = trace(*told.trace); return true;
    default: break;
  }
  if (told.region != nullptr) call.place = place(*told.region), call.field = field(*told.field);
  if (told.target != nullptr)
    call.target = place(*told.target), call.target_field = field(*told.target_field);
  if (told.future != nullptr) {
    add_future(call, told.future);
    if (told.kind != Kind::fill && call.futures.empty()) return false;  // of another program
  }
  return true;
}

CaptureFile::Number CaptureFile::number_of(const capture::Call& call) {
  Words words{static_cast<std::uint64_t>(call.kind),
              hash_bytes(call.file.data(), call.file.size()),
              call.line,
              call.region,
              call.partition,
              call.task,
              call.field,
              call.op,
              call.place.region,
              call.place.partition,
              call.place.piece,
              call.target.region,
              call.target.partition,
              call.target.piece,
              call.target_field,
              static_cast<std::uint64_t>(call.privilege),
              hash_bytes(call.trace.data(), call.trace.size()),
              call.domain,
              call.value_bytes,
              static_cast<std::uint64_t>(call.priority),
              std::uint64_t{call.inline_if_ready} << 1 | std::uint64_t{call.wants_future},
              call.back,
              call.futures.size()};
  words.insert(words.end(), call.futures.begin(), call.futures.end());
  for (const capture::Argument& argument : call.arguments) {
    words.push_back(std::uint64_t{argument.partition} << 32 | argument.region.region);
    words.push_back(std::uint64_t{argument.region.partition} << 32 | argument.region.piece);
    words.push_back(std::uint64_t{argument.field} << 32 | argument.op);
    words.push_back(std::uint64_t{argument.projection} << 32 |
                    static_cast<std::uint32_t>(argument.privilege) << 1 |
                    std::uint32_t{argument.relaxed});
  }
  const auto [at, added] =
      calls_.try_emplace(std::move(words), static_cast<Number>(program_.calls.size()));
  if (added) program_.calls.push_back(call);
  return at->second;
}

void CaptureFile::program_call_ended() {
  const std::lock_guard lock(mutex_);
  call_end_ns_ = profile::now_ns();
  launching_ = kNone;
}

// A plan that is new, perhaps where another one was: its points may run before the launch is told of.
void CaptureFile::asked(const LaunchPlan& plan) {
  const std::lock_guard lock(mutex_);
  note_plan(plan);
}

void CaptureFile::launched(LaunchPlan& plan, const std::string& /*why*/) {
  const std::lock_guard lock(mutex_);
  note_plan(plan);
}

void CaptureFile::note_plan(const LaunchPlan& plan) {
  if (is_launched_by(launching_, plan)) call_of_[&plan] = launching_;
  else call_of_.erase(&plan);
}

// Within a launch of the program's its thread may run bodies, which may launch other tasks.
bool CaptureFile::is_launched_by(Number number, const LaunchPlan& plan) const {
  if (number == kNone) return false;
  const capture::Call& call = program_.calls[number];
  const auto task = tasks_.find(plan.task->id());
  return task != tasks_.end() && call.task == task->second && call.line == plan.info.where.line() &&
         call.file == plan.info.where.file_name();
}

void CaptureFile::program_call(const ProgramCall& told) {
  const std::uint64_t now = profile::now_ns();
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  capture::Call call;
  try {
    if (!describe(told, call)) return;
  } catch (const Error&) { return; }  // the call is about to be refused with the same error
  const Number number = number_of(call);
  launching_ = told.kind == capture::CallKind::launch ? number : kNone;
  if (told.kind == capture::CallKind::access)
    open_[told.ticket] = {profile::now_ns(), position_, number};
  if (told.kind == capture::CallKind::reduce || call.wants_future)
    made_at_[told.number] = position_;
  if (const std::uint64_t end = std::exchange(call_end_ns_, 0);
      told.kind == capture::CallKind::launch && end != 0)
    pauses_[number].add(0, now - end);
  // These are told when they end.
  if (told.kind == capture::CallKind::wait || told.kind == capture::CallKind::end_access)
    call_end_ns_ = now;
  stream_.add(number);
  ++position_;
}

void CaptureFile::ran(const BodyRun& body) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  const LaunchPlan& plan = body.plan;
  const auto known = tasks_.find(plan.task->id());
  if (known == tasks_.end()) return;  // launched by another task
  const TaskVariant& variant = *plan.own.points[body.rank].variant;
  const std::uint64_t bytes = plan.argument_bytes(body.rank);
  const double waited = waits_.of(body.used);
  bodies_[{Whose::task, known->second, variant.kind}].add(bytes, body.ns, waited);
  const auto call = call_of_.find(&plan);
  // Mappers that are asked at each launch make plans that nobody is told of before their points run.
  const Number by = call != call_of_.end() ? call->second : launching_;
  if (is_launched_by(by, plan))
    bodies_[{Whose::call, by, variant.kind}].add(bytes, body.ns, waited);
  if (body.launches) program_.tasks[known->second].launches = true;
}

void CaptureFile::moved(const Move& move) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  moves_[move.kind].add(move.bytes, move.ns, waits_.of(move.used));
}

// The program may have made few copies and fills, those of its beginning, into memory that was new. A simulation may make
// others. And most of the program's may have been of values that another core had made.
void CaptureFile::measure_moves() {
  constexpr std::size_t kMost = std::size_t{1} << 18;
  constexpr int kTimes = 16;
  using Value = std::uint64_t;
  std::vector<Value> from(kMost / sizeof(Value)), to(kMost / sizeof(Value));
  const auto placed = [](std::vector<Value>& values) {
    memory::Placement placement;
    placement.zero = reinterpret_cast<std::byte*>(values.data());
    placement.stride[0] = sizeof(Value);
    return placement;
  };
  const memory::Placement source = placed(from), target = placed(to);
  const Value value = 1;
  DurationSamples near;
  for (std::size_t bytes = 64; bytes <= kMost; bytes *= 16) {
    const auto points =
        data::IndexSpace::dense(Rect1{0, static_cast<Coord>(bytes / sizeof(Value)) - 1});
    for (int time = 0; time < kTimes; ++time) {
      const std::uint64_t begin = profile::now_ns();
      memory::cpu_mover().copy(*points, target, source, sizeof(Value));
      const std::uint64_t copied = profile::now_ns();
      memory::cpu_mover().fill(*points, target, &value, sizeof(Value));
      for (DurationSamples* const copies : {&near, &moves_[exec::NodeKind::copy]})
        copies->add(bytes, copied - begin);
      moves_[exec::NodeKind::fill].add(bytes, profile::now_ns() - copied);
    }
  }
  program_.near_copies = near.costs();
}

void CaptureFile::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    measure_moves();
    // Of few runs of a call outliers are not known: its task's times say more.
    constexpr std::uint64_t kFew = 10;
    for (const auto& [key, samples] : bodies_) {
      const auto& [whose, number, kind] = key;
      if (whose == Whose::call && samples.runs() <= kFew) continue;
      capture::CostsByKind& costs =
          whose == Whose::call ? program_.calls[number].costs : program_.tasks[number].costs;
      costs[static_cast<std::size_t>(kind)] = samples.costs();
    }
    for (const auto& [call, held] : held_)
      program_.calls[call].seconds =
          static_cast<double>(held.ns) * 1e-9 / static_cast<double>(held.count);
    for (const auto& [call, samples] : pauses_)
      program_.calls[call].pause = samples.costs()[0].mean;
    program_.copies = moves_[exec::NodeKind::copy].costs();
    program_.fills = moves_[exec::NodeKind::fill].costs();
    program_.folds = moves_[exec::NodeKind::fold].costs();
    program_.stream = stream_.grammar();
  }
  append(capture::to_json(program_));
  ReportFile::close();
}

}  // namespace refrain::runtime
