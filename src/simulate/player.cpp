#include "simulate/player.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "data/region_tree.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::simulate {

using capture::CallKind, capture::kNone, capture::Number;

namespace {

/// Projection functions have no state but a number: which of the captured ones it is. They are kept for the process, once
/// for all simulations of a captured program.
class Projections {
 public:
  static Projection make(const capture::Projection& captured, const data::IndexSpaceRef& domain) {
    Projections& all = instance();
    const std::lock_guard lock(all.mutex_);
    const auto same = std::ranges::find_if(all.tables_, [&](const Table& table) {
      return table.domain == domain && table.colours == captured.colours;
    });
    const auto key = static_cast<std::uint64_t>(same - all.tables_.begin());
    if (same == all.tables_.end()) all.tables_.push_back({captured.colours, domain});
    return Projection::function(captured.name, colour_of, key);
  }

 private:
  struct Table {
    std::vector<Point<3>> colours;
    data::IndexSpaceRef domain;
  };
  static Projections& instance() {
    static Projections all;
    return all;
  }
  static Point<3> colour_of(const Point<3>& point, std::uint64_t key) {
    Projections& all = instance();
    const std::lock_guard lock(all.mutex_);
    const Table& table = all.tables_[key];
    const auto rank = table.domain->rank(point);
    if (!rank) throw UsageError("a captured projection is asked for a point of another launch");
    return table.colours[*rank];
  }
  std::mutex mutex_;
  std::deque<Table> tables_;
};

std::uint64_t longest_way_back(const capture::Program& program) {
  std::uint64_t longest = 1;
  for (const capture::Call& call : program.calls) {
    longest = std::max(longest, call.back);
    for (const std::uint64_t back : call.futures) longest = std::max(longest, back);
  }
  return longest;
}

AnyIndexSpace shared(const data::IndexSpaceRef& space) {
  return AnyIndexSpace(std::make_shared<const refrain::detail::SharedIndexSpace>(
      refrain::detail::SharedIndexSpace{space}));
}

constexpr ValueOps kNoValues{1, 1, [](void*, void*) {}, [](void*) {}};

}  // namespace

Player::Player(const capture::Program& program, CostModel& model, VirtualExecutor& executor)
    : program_(program), model_(model), executor_(executor) {
  types_.reserve(program.fields.size());  // fields point to them
  for (const capture::Field& field : program.fields) {
    types_.push_back({field.size, field.alignment, field.type});
    fields_.emplace_back(field.name, types_.back());
  }
  operators_.reserve(program.operators.size());
  for (const capture::Operator& op : program.operators)
    operators_.push_back({op.name, &types_[op.field_type], [](void*, std::size_t) {},
                          [](void*, std::ptrdiff_t, const void*, std::ptrdiff_t, std::size_t) {}});
  projections_.reserve(program.projections.size());
  for (const capture::Projection& projection : program.projections)
    projections_.push_back(projection.domain == kNone
                               ? Projection::affine(projection.matrix, projection.offset)
                               : Projections::make(projection, program.spaces[projection.domain]));
  regions_.resize(program.regions.size());
  partitions_.resize(program.partitions.size());
  prepared_.resize(program.calls.size());
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    const capture::Call& call = program.calls[i];
    prepared_[i].where = Where(files_.insert(call.file).first->c_str(), call.line);
    if (call.kind == CallKind::begin_trace || call.kind == CallKind::end_trace)
      traces_.try_emplace(call.trace, call.trace);
  }
  const std::uint64_t kept = longest_way_back(program) + 1;
  if (kept > (std::uint64_t{1} << 26))
    throw UsageError("the captured program uses futures of " + std::to_string(kept) + " calls ago");
  futures_.resize(kept);
  tickets_.resize(kept);
  seconds_.resize(kept);
}

void Player::play(Context& context) {
  for (Number task = 0; task < program_.tasks.size(); ++task) {
    const capture::Task& captured = program_.tasks[task];
    std::vector<TaskVariant> variants;
    variants.reserve(captured.variants.size());
    for (const ProcessorKind kind : captured.variants)
      variants.push_back({kind, [](const TaskFrame&) {}, false});
    const ResultType result{captured.result_size, captured.result_alignment};
    model_.add(*tasks_made_
                    .emplace_back(
                        std::make_unique<DynamicTask>(captured.name, std::move(variants), result))
                    ->record(),
               task);
  }
  play_rule(context, 0);
  context.fence();
  executor_.check();
  waited();
  phases_.back().end = executor_.now();
  futures_.assign(futures_.size(), {});
}

void Player::play_rule(Context& context, std::uint32_t rule) {
  for (const oracle::Use& use : program_.stream.rule(rule)) {
    const double begin = executor_.now();
    for (std::uint64_t time = 0; time < use.times; ++time) {
      if (use.symbol.is_rule()) play_rule(context, use.symbol.number());
      else play_call(context, use.symbol.number());
    }
    const Loop loop{use.times, program_.stream.length(use.symbol), begin, executor_.now()};
    if (loop.times > 1 && (!loop_ || loop.times * loop.calls > loop_->times * loop_->calls)) {
      loop_ = loop;
      loop_is_open_ = true;
    }
  }
}

void Player::waited() {
  if (std::exchange(loop_is_open_, false) && loop_) loop_->end = executor_.now();
}

AnyRegion Player::place(const capture::Place& place) const {
  if (place.partition == kNone) return regions_[place.region];
  const AnyPartition& partition = partitions_[place.partition];
  if (partition.tree == nullptr)
    throw UsageError("the captured program names a partition before it makes it");
  return partition.tree->handle(partition.tree->partition(partition.index).first_child +
                                place.piece);
}

const AnyFuture& Player::future(std::uint64_t back) const {
  const AnyFuture& found = futures_[(position_ - back) % futures_.size()];
  if (back > position_ || !found.valid())
    throw UsageError("the captured program names a future that no call has made");
  return found;
}

void Player::keep(AnyFuture future) { futures_[position_ % futures_.size()] = std::move(future); }

void Player::make_partition(Context& context, Number number, const Where& where) {
  const capture::Partition& captured = program_.partitions[number];
  const AnyRegion parent = place(captured.of);
  if (parent.tree == nullptr)
    throw UsageError("the captured program divides a region before it makes it");
  runtime::ContextImpl& impl = context.impl();
  impl.make_call("partition", where, [&] {
    const auto [tree, node] = impl.place_of(parent);
    std::vector<data::IndexSpaceRef> pieces;
    pieces.reserve(captured.pieces.size());
    for (const Number piece : captured.pieces) pieces.push_back(program_.spaces[piece]);
    partitions_[number] = tree->make_partition(node, program_.spaces[captured.colours],
                                               std::move(pieces), captured.kind);
  });
}

void Player::prepare(const capture::Call& call, Prepared& prepared) {
  prepared.epoch = epoch_;
  prepared.requirements.clear();
  for (const capture::Argument& argument : call.arguments) {
    Requirement r;
    if (argument.partition != kNone) r.partition = partitions_[argument.partition];
    else r.region = place(argument.region);
    r.field = fields_[argument.field];
    r.privilege = argument.privilege;
    if (argument.op != kNone) r.op = &operators_[argument.op];
    r.relaxed = argument.relaxed;
    if (argument.projection != kNone) r.projection = projections_[argument.projection];
    prepared.requirements.push_back(std::move(r));
  }
  if (call.domain == kNone || prepared.domain) return;
  const data::IndexSpaceRef& domain = program_.spaces[call.domain];
  prepared.points = domain->volume();
  if (domain->dense()) {
    prepared.domain.emplace(domain->dim(), domain->bounds());
  } else {
    prepared.domain.emplace(prepared.space.emplace(shared(domain)));  // which refers to it
  }
}

void Player::launch(Context& context, const capture::Call& call, Prepared& prepared) {
  if (prepared.epoch != epoch_) prepare(call, prepared);
  LaunchRequest request;
  request.task = tasks_made_[call.task]->record().get();
  request.where = prepared.where;
  if (prepared.domain) request.domain = &*prepared.domain;
  request.requirements = prepared.requirements;
  char values = 0;
  if (call.value_bytes > 0) {
    request.values = &values;
    request.value_ops = &kNoValues;
  }
  std::vector<refrain::detail::FutureState*> given;
  given.reserve(call.futures.size());
  for (const std::uint64_t back : call.futures) given.push_back(future(back).state());
  request.futures = given;
  request.hints = {call.priority, call.inline_if_ready};
  request.wants_future = call.wants_future;
  model_.begin_call(static_cast<Number>(&call - program_.calls.data()));
  AnyFuture made = context.launch(request);
  executor_.issued(prepared.points);
  tasks_ += prepared.points;
  phases_.back().tasks += prepared.points;
  if (call.wants_future) keep(std::move(made));
}

void Player::play_call(Context& context, Number number) {
  const capture::Call& call = program_.calls[number];
  Prepared& prepared = prepared_[number];
  const Where& where = prepared.where;
  executor_.pass(call.pause);
  executor_.advance();
  ++phases_.back().calls;
  switch (call.kind) {
    case CallKind::launch: launch(context, call, prepared); break;
    case CallKind::region: {
      const capture::Region& captured = program_.regions[call.region];
      std::vector<AnyField> columns;
      columns.reserve(captured.fields.size());
      for (const Number field : captured.fields) columns.push_back(fields_[field]);
      regions_[call.region] =
          context.make_region(shared(program_.spaces[captured.points]), columns, where);
      ++epoch_;
      break;
    }
    case CallKind::partition:
      make_partition(context, call.partition, where);
      ++epoch_;
      break;
    case CallKind::destroy_region: context.destroy(regions_[call.region], where); break;
    case CallKind::destroy_partition: context.destroy(partitions_[call.partition], where); break;
    case CallKind::fill: {
      const std::vector<std::byte> zero(program_.fields[call.field].size);
      if (call.futures.empty())
        context.fill_bytes(place(call.place), fields_[call.field], zero.data(), where);
      else
        context.fill_future(place(call.place), fields_[call.field], future(call.futures[0]), where);
      break;
    }
    case CallKind::copy:
      context.copy_fields(place(call.place), fields_[call.field], place(call.target),
                          fields_[call.target_field], where);
      break;
    case CallKind::access: {
      PhysicalArgument physical;
      tickets_[position_ % tickets_.size()] = context.begin_access(
          place(call.place), fields_[call.field], call.privilege, physical, where);
      seconds_[position_ % tickets_.size()] = call.seconds;
      waited();
      break;
    }
    case CallKind::end_access: {
      if (call.back > position_) throw UsageError("the captured program ends no access");
      const std::uint64_t at = (position_ - call.back) % tickets_.size();
      executor_.pass(std::exchange(seconds_[at], 0));
      executor_.advance();
      context.end_access(tickets_[at]);
      break;
    }
    case CallKind::attach:
    case CallKind::detach:
      throw UsageError("memory of the program is attached at " + to_string(where) +
                       ", which cannot be simulated");
    case CallKind::reduce:
      keep(context.reduce_futures(future(call.futures[0]), operators_[call.op], where));
      break;
    case CallKind::wait:
      future(call.futures[0]).wait(where);
      waited();
      break;
    case CallKind::fence:
      context.fence(where);
      waited();
      phases_.back().end = executor_.now();
      phases_.push_back({.begin = executor_.now()});
      break;
    case CallKind::begin_trace: context.begin_trace(traces_.at(call.trace), where); break;
    case CallKind::end_trace: context.end_trace(traces_.at(call.trace), where); break;
  }
  ++position_;
  executor_.check();
}

}  // namespace refrain::simulate
