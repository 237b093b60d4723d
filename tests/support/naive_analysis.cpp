#include "support/naive_analysis.hpp"

#include "base/assert.hpp"
#include "data/layout.hpp"
#include "support/naive_traffic.hpp"

namespace refrain::test {

using exec::NodeKind;

NaiveAnalysis::NaiveAnalysis(const Program& program, const MappingRule& mapping, bool limited)
    : program_(&program), mapping_(&mapping), limited_(limited) {
  if (!limited) return;
  for (const Memory& memory : mapping.machine().memories())
    pools_.push_back(std::make_unique<memory::MemoryPool>(memory));
}

NaiveAnalysis::~NaiveAnalysis() {
  for (const Instance& instance : instances_)
    if (instance.block != nullptr) pools_[instance.memory]->release(instance.block);
}

NaiveGraph NaiveAnalysis::analyse() {
  for (const Resolved& r : program_->statements) execute(r);
  for (const Detached& end : program_->left) detach(end.id);
  return std::move(graph_);
}

NaiveGraph NaiveAnalysis::analyse_children(const Resolved& parent, std::size_t rank) {
  parent_ = &parent.points[rank];
  const Placement placement = place(parent, rank);
  for (std::size_t i = 0; i < parent_->arguments.size(); ++i) {
    const ResolvedArgument& a = parent_->arguments[i];
    homes_.push_back({&a, static_cast<int>(i), -1});
    // Of a reducing parent it is the accumulator, in system memory.
    const MemoryId memory = a.privilege == Privilege::reduce
                                ? mapping_->machine().memories(MemoryKind::system)[0]
                                : placement.arguments[i].memory;
    instances_.push_back({.owner = static_cast<int>(i),
                          .field = a.field,
                          .memory = memory,
                          .points = a.points,
                          .given = true});
    homes_.back().instance = static_cast<int>(instances_.size()) - 1;
    auto& points = fields_[{static_cast<int>(i), a.field}];
    points.resize(program_->shape(a.tree).points.size());
    for (PointState& at : points) {
      at.fill_pending = false;
      at.valid = {homes_.back().instance};
    }
  }
  for (const Resolved& r : parent_->children) execute(r);
  if (parent_->throws != PointTask::Throws::late) bring_home();  // who throws leaves at once
  return std::move(graph_);
}

void NaiveAnalysis::execute(const Resolved& r) {
  using Kind = Statement::Kind;
  statement_ = &r;
  switch (r.spec.kind) {
    case Kind::launch: launch(r); break;
    case Kind::fill:
    case Kind::fill_future: fill(r); break;
    case Kind::copy: copy(r); break;
    case Kind::access: access(r.target); break;
    case Kind::reduce: reduce(r); break;
    case Kind::create: ++calls_; break;
    case Kind::partition: partition(r); break;
    case Kind::attach: attach(r); break;
    case Kind::detach:
    case Kind::destroy_region:
      ++calls_;
      for (const Detached& end : r.detached) detach(end.id);
      if (r.spec.kind == Kind::destroy_region) release_all(r.tree);
      break;
    case Kind::destroy_partition: ++calls_; break;
    case Kind::fence: bring_home(); break;
    case Kind::remap: ++phase_; break;
    case Kind::get:
      if (steps_ != nullptr) gather(r.spec.future);
      break;
    default: break;  // nothing that a graph shows
  }
}

/// What children changed elsewhere goes back to where the parent has it.
void NaiveAnalysis::bring_home() {
  ++calls_;  // these copies belong to the call that is yet to come
  for (const Use& home : homes_) {
    if (home.instance < 0 || !writes(home.argument->privilege)) continue;
    make_valid({home.argument, -1, home.instance}, 0);
    for (int i = 0; i < max_points; ++i)
      if (has(home.argument->points, i))
        fields_[{home.position, home.argument->field}][static_cast<std::size_t>(i)].valid = {
            home.instance};
  }
  --calls_;
}

int NaiveAnalysis::owner(const ResolvedArgument& argument) const {
  if (parent_ == nullptr) return argument.tree;
  for (std::size_t i = 0; i < parent_->arguments.size(); ++i) {
    const ResolvedArgument& has_it = parent_->arguments[i];
    if (&argument == &has_it) return static_cast<int>(i);
    const bool allowed = has_it.privilege == Privilege::reduce
                             ? argument.privilege == Privilege::reduce && argument.op == has_it.op
                             : argument.privilege == Privilege::read || writes(has_it.privilege);
    if (allowed && has_it.tree == argument.tree && has_it.field == argument.field &&
        (argument.points & ~has_it.points) == 0)
      return static_cast<int>(i);
  }
  return -1;
}

NaiveAnalysis::PointState& NaiveAnalysis::state(const ResolvedArgument& argument, int point) {
  auto& points = fields_[{owner(argument), argument.field}];
  if (points.empty()) points.resize(program_->shape(argument.tree).points.size());
  return points[static_cast<std::size_t>(point)];
}

int NaiveAnalysis::instance_for(const ResolvedArgument& argument,
                                const Placement::Argument& where) {
  const int owned_by = owner(argument);
  if (parent_ != nullptr &&
      homes_[static_cast<std::size_t>(owned_by)].argument->privilege == Privilege::reduce)
    return homes_[static_cast<std::size_t>(owned_by)].instance;
  int found = -1;
  const auto try_all = [&](const std::vector<MemoryId>& memories,
                           std::optional<WhenFull> gives_way) {
    for (const MemoryId memory : memories) {
      if (found >= 0) return;
      found = try_memory(argument, where, memory, gives_way);
      fell_back_ |= memory != where.memory;
    }
  };
  std::vector<MemoryId> all{where.memory};
  all.insert(all.end(), where.others.begin(), where.others.end());
  if (where.when_full == WhenFull::next) {
    for (std::size_t i = 0; i < all.size() && found < 0; ++i)
      if (existing_in(argument, where, all[i]) >= 0)
        try_all(std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i) + 1), {});
    try_all(all, WhenFull::next);
  }
  try_all(all, WhenFull::evict);
  REFRAIN_ASSERT(found >= 0, "system memory has room for random programs");
  instances_[static_cast<std::size_t>(found)].last_use = point_;
  return found;
}

/// In that memory: an attached instance (or the parent's) that contains the argument's points; or the
/// first made that does, has the order and, if that is asked for, is compact or not, unless it is one box; or -1.
int NaiveAnalysis::existing_in(const ResolvedArgument& argument, const Placement::Argument& where,
                               MemoryId memory) {
  const int owned_by = owner(argument);
  for (const bool given : {true, false})
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      const Instance& is = instances_[i];
      if (is.alive && is.given == given &&
          (given || (is.order == where.order && fits(is, where.sparse))) && is.owner == owned_by &&
          is.field == argument.field && is.memory == memory && (argument.points & ~is.points) == 0)
        return static_cast<int>(i);
    }
  return -1;
}

bool NaiveAnalysis::fits(const Instance& instance, Sparse sparse) const {
  const data::IndexSpaceRef space = space_of(instance);
  return sparse == Sparse::by_density || space->dense() ||
         data::is_compact(*space, instance.sparse) == (sparse == Sparse::compact);
}

/// Such a one, or a new one, if there is room.
int NaiveAnalysis::try_memory(const ResolvedArgument& argument, const Placement::Argument& where,
                              MemoryId memory, std::optional<WhenFull> gives_way) {
  if (const int found = existing_in(argument, where, memory); found >= 0) return found;
  const int owned_by = owner(argument);
  if (where.extent == refrain::Extent::whole) note_use(argument);
  const Mask whole = parent_ == nullptr
                         ? extent(argument)
                         : parent_->arguments[static_cast<std::size_t>(owned_by)].points;
  Instance made{.owner = owned_by,
                .field = argument.field,
                .memory = memory,
                .points = where.extent == refrain::Extent::whole ? whole : argument.points,
                .order = where.order,
                .sparse = where.sparse,
                .whole = where.extent == refrain::Extent::whole};
  if (limited_ && !allocate(made, gives_way)) return -1;
  instances_.push_back(made);
  return static_cast<int>(instances_.size()) - 1;
}

/// What the program's own accesses, copies and attachments use.
int NaiveAnalysis::main_memory_instance(const ResolvedArgument& argument) {
  return instance_for(argument,
                      Placement::Argument{mapping_->machine().memories(MemoryKind::system)[0], {}});
}

int NaiveAnalysis::add(NaiveOperation operation) {
  operation.call = calls_ - 1;
  operation.statement = statement_;
  graph_.operations.push_back(operation);
  return static_cast<int>(graph_.operations.size()) - 1;
}

void NaiveAnalysis::edge(int from, int to, const char* rule) {
  if (from >= 0) graph_.edges.push_back({from, to, rule});
}

void NaiveAnalysis::read(int operation, Uses& uses, const char* rule) {
  for (const int writer : uses.last_writers) edge(writer, operation, rule);
  uses.readers.push_back(operation);
  uses.group.reset();
}

void NaiveAnalysis::overwrite(int operation, Uses& uses, const char* after_writer,
                              const char* after_reader) {
  for (const int writer : uses.last_writers) edge(writer, operation, after_writer);
  for (const int reader : uses.readers)
    if (reader != operation) edge(reader, operation, after_reader);
  uses.last_writers = {operation};
  uses.readers.clear();
  uses.group.reset();
}

void NaiveAnalysis::fold_in_any_order(int operation, Uses& uses, OpKind op) {
  if (uses.group != op) {
    uses.group = op;
    uses.before_group = std::move(uses.last_writers);
    uses.before_group.insert(uses.before_group.end(), uses.readers.begin(), uses.readers.end());
    uses.last_writers.clear();
    uses.readers.clear();
  }
  for (const int before : uses.before_group)
    edge(before, operation, "a relaxed fold comes after what its group comes after");
  uses.last_writers.push_back(operation);
}

/// Rules R1 and R2.
void NaiveAnalysis::make_valid(const Use& use, std::size_t rank) {
  const ResolvedArgument& a = *use.argument;
  const MemoryId memory = instances_[static_cast<std::size_t>(use.instance)].memory;
  const std::size_t bytes =
      size_of(program_->shape(a.tree).fields[static_cast<std::size_t>(a.field)]);
  for (int i = 0; i < max_points; ++i) {
    if (!has(a.points, i)) continue;
    PointState& at = state(a, i);
    if (at.valid.contains(use.instance)) continue;
    NaiveOperation operation{NodeKind::fill, 0,      rank,         use.position, a.tree,    a.field,
                             memory,         memory, Mask{1} << i, nullptr,      Role::move};
    if (at.fill_pending) {
      const int fill = add(operation);
      edge(at.fill_producer, fill, "a fill comes after the task that makes its value");
      overwrite(fill, at.uses[use.instance], "a fill comes after the last write to its instance",
                "a fill comes after the reads of its instance");
    } else {
      int nearest = -1;
      double least = 0;
      for (const int candidate : at.valid) {
        const MemoryId from = instances_[static_cast<std::size_t>(candidate)].memory;
        const double seconds = mapping_->machine().copy_seconds(from, memory, bytes);
        if (nearest < 0 || seconds < least) {
          nearest = candidate;
          least = seconds;
        }
      }
      copy_point(a, i, nearest, use.instance, rank, use.position);
    }
    at.valid.insert(use.instance);
  }
}

void NaiveAnalysis::copy_point(const ResolvedArgument& a, int point, int source, int target,
                               std::size_t rank, int position) {
  PointState& at = state(a, point);
  const int copy = add({NodeKind::copy, 0, rank, position, a.tree, a.field,
                        instances_[static_cast<std::size_t>(source)].memory,
                        instances_[static_cast<std::size_t>(target)].memory, Mask{1} << point,
                        nullptr, Role::move});
  read(copy, at.uses[source], "a copy comes after the last write to its source");
  overwrite(copy, at.uses[target], "a copy comes after the last write to its target",
            "a copy comes after the reads of its target");
  at.valid.insert(target);
}

/// The edges of an operation through one argument, and rule W.
void NaiveAnalysis::use(int operation, const Use& use) {
  const ResolvedArgument& a = *use.argument;
  const bool reads_it = a.privilege != Privilege::write;
  const bool writes_it = a.privilege != Privilege::read;
  for (int i = 0; i < max_points; ++i) {
    if (!has(a.points, i)) continue;
    PointState& at = state(a, i);
    Uses& uses = at.uses[use.instance];
    if (!writes_it) {
      read(operation, uses, "a read comes after the last write");
      continue;
    }
    if (a.relaxed) fold_in_any_order(operation, uses, a.op);
    else
      overwrite(operation, uses,
                reads_it ? "a read-write comes after the last write"
                         : "a write comes after the last write",
                "a write comes after the reads since the last write");
    at.valid = {use.instance};
    at.fill_pending = false;
  }
}

void NaiveAnalysis::launch(const Resolved& r) {
  ++calls_;
  if (steps_ != nullptr) return launch_share(r);
  std::vector<int> tasks;
  for (std::size_t rank = 0; rank < r.points.size(); ++rank)
    tasks.push_back(point_task(r, rank, rank));
  if (r.spec.launch.future >= 0) producers_[r.spec.launch.future] = tasks;
}

Placement NaiveAnalysis::place(const Resolved& r, std::size_t rank) const {
  const int number = r.spec.launch.task;
  const std::string name = "t" + std::to_string(number);
  std::vector<std::string_view> fields;
  for (const ResolvedArgument& a : r.points[rank].arguments)
    fields.push_back(field_of(ValueKind::f64, a.field).name);
  return mapping_->place(name, rank, r.points.size(),
                         program_->tasks[static_cast<std::size_t>(number)].gpu, fields, phase_);
}

int NaiveAnalysis::point_task(const Resolved& r, std::size_t rank, std::size_t own_rank) {
  const std::vector<ResolvedArgument>& arguments = r.points[rank].arguments;
  const Placement placement = place(r, rank);
  ++point_;
  rank_ = rank;
  std::vector<Use> uses;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    uses.push_back(
        {&arguments[i], static_cast<int>(i), instance_for(arguments[i], placement.arguments[i])});
  for (const Use& u : uses)
    if (reads(u.argument->privilege)) make_valid(u, own_rank);
  NaiveOperation operation;
  operation.rank = own_rank;
  operation.part = rank;
  const int task = add(operation);
  for (const Use& u : uses)
    if (u.argument->privilege != Privilege::reduce) use(task, u);
  for (const int f : r.spec.launch.futures)
    for (const int producer : producers_[f])
      edge(producer, task, "a task comes after the tasks that make its futures");
  for (const Use& u : uses) {
    if (u.argument->privilege != Privilege::reduce) continue;
    if (steps_ != nullptr) fold_share(u, task, rank, (*steps_)[next_step_ - 1]);
    else fold(u, task, rank);
  }
  return task;
}

/// `after`: the task, or what has brought its contribution.
int NaiveAnalysis::fold(const Use& u, int after, std::size_t rank) {
  make_valid(u, rank);
  const ResolvedArgument& a = *u.argument;
  const MemoryId memory = instances_[static_cast<std::size_t>(u.instance)].memory;
  const int operation = add(
      {NodeKind::fold, 0, rank, u.position, a.tree, a.field, memory, memory, a.points, nullptr});
  graph_.operations.back().part = rank;
  edge(after, operation, "a fold comes after its task, or after what has brought its contribution");
  use(operation, u);
  return operation;
}

void NaiveAnalysis::fill(const Resolved& r) {
  if (steps_ != nullptr && r.spec.kind == Statement::Kind::fill_future) receive_values(next_step());
  ++calls_;
  for (int i = 0; i < max_points; ++i) {
    if (!has(r.target.points, i)) continue;
    PointState& at = state(r.target, i);
    at.valid.clear();
    at.fill_pending = true;
    at.fill_producer = r.spec.kind == Statement::Kind::fill ? -1 : producers_[r.spec.future].at(0);
  }
}

void NaiveAnalysis::copy(const Resolved& r) {
  ++calls_;
  ++point_;
  ResolvedArgument target = r.target;
  if (steps_ != nullptr) {
    target.points = 0;
    for (const auto& [owner, points] : next_step().copied)
      if (owner == shard_ || owner == NaiveHoldings::every) target.points |= points;
  }
  if (target.points == 0) return;
  const MemoryId memory = mapping_->machine().memories(MemoryKind::system)[0];
  const Shape &from = program_->shape(r.source.tree), &to = program_->shape(r.target.tree);
  ResolvedArgument source = r.source;  // only what the target takes
  source.points = 0;
  for (int i = 0; i < static_cast<int>(to.points.size()); ++i)
    if (has(target.points, i))
      source.points |= Mask{1} << from.find(to.points[static_cast<std::size_t>(i)]);
  widen(source, source.points);
  widen(target, target.points);
  const Use in{&source, 0, main_memory_instance(source)};
  const Use out{&target, 1, main_memory_instance(target)};
  make_valid(in, 0);
  const int operation = add({NodeKind::copy, 0, 0, -1, target.tree, target.field, memory, memory,
                             target.points, nullptr});
  use(operation, in);
  use(operation, out);
}

void NaiveAnalysis::access(const ResolvedArgument& argument) {
  ++calls_;
  ++point_;
  if (steps_ != nullptr) exchange(next_step(), argument, 0);
  widen(argument, argument.points);
  hold(NodeKind::access, {&argument, 0, main_memory_instance(argument)});
}

void NaiveAnalysis::hold(NodeKind kind, const Use& u, std::size_t part, std::size_t rank) {
  const ResolvedArgument& a = *u.argument;
  if (a.privilege != Privilege::write) make_valid(u, rank);
  const MemoryId memory = instances_[static_cast<std::size_t>(u.instance)].memory;
  const int operation =
      add({kind, 0, rank, -1, a.tree, a.field, memory, memory, a.points, nullptr});
  graph_.operations.back().part = part;
  use(operation, u);
}

/// The memory joins as an instance that alone is valid, or as one for each piece that is here.
void NaiveAnalysis::attach(const Resolved& r) {
  ++calls_;
  Attached& made = attached_[r.spec.id] = {r.target, {}};
  const bool by_pieces = r.spec.target.partitioned;
  const NaiveStep* const step = by_pieces && steps_ != nullptr ? &next_step() : nullptr;
  const std::size_t parts = by_pieces ? r.partition.pieces.size() : 1;
  for (std::size_t part = 0; part < parts; ++part) {
    const Mask points = by_pieces ? r.partition.pieces[part] : r.target.points;
    if (points == 0 || (step != nullptr && step->shards[part] != shard_)) continue;
    instances_.push_back({.owner = r.target.tree,
                          .field = r.target.field,
                          .memory = mapping_->machine().memories(MemoryKind::system)[0],
                          .points = points,
                          .given = true});
    const int instance = static_cast<int>(instances_.size()) - 1;
    made.instances[part] = instance;
    for (int i = 0; i < max_points; ++i)
      if (has(points, i)) {
        state(r.target, i).valid = {instance};
        state(r.target, i).fill_pending = false;
      }
  }
}

/// The memory gets the latest values, and goes; nothing is valid then.
void NaiveAnalysis::detach(int attachment) {
  const Attached& ended = attached_.at(attachment);
  ResolvedArgument all = ended.whole;
  all.privilege = Privilege::read_write;
  if (steps_ != nullptr) exchange(next_step(), all, 0);
  for (const auto& [part, number] : ended.instances) {
    ResolvedArgument here = all;
    here.points = instances_[static_cast<std::size_t>(number)].points;
    hold(NodeKind::detach, {&here, 0, number}, static_cast<std::size_t>(attachment), part);
  }
  for (int i = 0; i < max_points; ++i)
    if (has(all.points, i)) {
      state(all, i).valid.clear();
      state(all, i).fill_pending = false;
    }
  for (const auto& [part, number] : ended.instances) release(number);
}

/// Partitions that depend on data read it first.
void NaiveAnalysis::partition(const Resolved& r) {
  if (by_data(r.spec.partition.op)) access(r.source);
  ++calls_;
}

void NaiveAnalysis::reduce(const Resolved& r) {
  ++calls_;
  if (steps_ != nullptr)
    if (const NaiveStep& step = next_step(); step.together > 0) return reduce_share(r, step);
  NaiveOperation operation;
  operation.kind = NodeKind::other;
  const int result = add(operation);
  for (const int producer : producers_[r.spec.future])
    edge(producer, result, "a reduction of futures comes after the tasks that make them");
  producers_[r.spec.id] = {result};
}

}  // namespace refrain::test
