#include "support/resolve.hpp"

#include <algorithm>

namespace refrain::test {

bool conflict(const ResolvedArgument& a, const ResolvedArgument& b) {
  if (a.tree != b.tree || a.field != b.field || (a.points & b.points) == 0) return false;
  if (a.privilege == Privilege::read && b.privilege == Privilege::read) return false;
  const bool both_reduce = a.privilege == Privilege::reduce && b.privilege == Privilege::reduce;
  return !(both_reduce && a.op == b.op);
}

namespace {

/// The interpreter folds in one order: another may be allowed where it gives the same.
bool is_relaxed(const RequirementSpec& q, const Shape& shape) {
  return q.relaxed && q.privilege == Privilege::reduce &&
         any_order(q.op, shape.fields[static_cast<std::size_t>(q.field)]);
}

}  // namespace

bool World::find(const RegionRef& region, int& tree, Mask& points) const {
  if (region.partition >= 0) {
    const auto p = partitions_.find(region.partition);
    if (p == partitions_.end() || !p->second.alive) return false;
    const auto& pieces = p->second.is.pieces;
    if (region.colour < 0 || region.colour >= static_cast<int>(pieces.size())) return false;
    tree = p->second.is.tree;
    points = pieces[static_cast<std::size_t>(region.colour)];
    return true;
  }
  if (arguments_ != nullptr) {
    if (region.root < 0 || region.root >= static_cast<int>(arguments_->size())) return false;
    const ResolvedArgument& a = (*arguments_)[static_cast<std::size_t>(region.root)];
    tree = a.tree;
    points = a.points;
    return true;
  }
  const auto r = regions_.find(region.root);
  if (r == regions_.end()) return false;
  tree = r->second;
  points = shape(tree).all();
  return true;
}

bool World::apply(const Statement& s, Resolved& r) {
  r.spec = s;
  if (!resolve(s, r)) return false;
  note_writes(r);
  return true;
}

bool World::readable(const ResolvedArgument& a) const {
  const auto found = without_values_.find({a.tree, a.field});
  return a.privilege == Privilege::write || found == without_values_.end() ||
         (a.points & found->second) == 0;
}

void World::note_writes(const Resolved& r) {
  const auto note = [&](const ResolvedArgument& a) {
    if (a.privilege != Privilege::write) return;
    if (const auto found = without_values_.find({a.tree, a.field}); found != without_values_.end())
      found->second &= ~a.points;
  };
  note(r.target);
  for (const PointTask& t : r.points) std::ranges::for_each(t.arguments, note);
}

bool World::resolve(const Statement& s, Resolved& r) {
  using Kind = Statement::Kind;
  switch (s.kind) {
    case Kind::create: return create(s, r);
    case Kind::partition: return partition(s, r);
    case Kind::destroy_region:
    case Kind::destroy_partition: return destroy(s, r);
    case Kind::launch: return launch(s, r);
    case Kind::fill: return argument(s.target, r.target);
    case Kind::fill_future: {
      if (!argument(s.target, r.target)) return false;
      const ValueKind kind = shape(r.target.tree).fields[static_cast<std::size_t>(s.target.field)];
      return future(s.future, false, &kind);
    }
    case Kind::reduce:
      if (!future(s.future, true, nullptr) || futures_.contains(s.id)) return false;
      r.value = futures_[s.future].kind;
      futures_[s.id] = {r.value, false};
      return true;
    case Kind::copy: return copy(s, r);
    case Kind::access:
      return argument(s.target, r.target) && s.target.privilege != Privilege::reduce &&
             readable(r.target);
    case Kind::attach: return attach(s, r);
    case Kind::detach: return detach(s, r);
    case Kind::get: return futures_.contains(s.future);
    case Kind::begin_trace:
      if (trace_ >= 0) return false;
      trace_ = s.id;
      return true;
    case Kind::end_trace:
      if (trace_ != s.id || s.id < 0) return false;
      trace_ = -1;
      return true;
    default: return true;
  }
}

bool World::create(const Statement& s, Resolved& r) {
  if (regions_.contains(s.id) || s.shape >= static_cast<int>(plan_->shapes.size())) return false;
  r.tree = static_cast<int>(tree_shapes_.size());
  tree_shapes_.push_back(s.shape);
  regions_[s.id] = r.tree;
  return true;
}

/// Finds the operands, and the parent where they decide it.
bool World::take_operands(PartitionSpec& spec, const ResolvedPartition* (&operands)[2]) const {
  for (int k = 0; k < 2; ++k) {
    const int id = k == 0 ? spec.a : spec.b;
    if (id < 0) continue;
    const auto p = partitions_.find(id);
    if (p == partitions_.end() || !p->second.alive) return false;
    operands[k] = &p->second.is;
    if (k == 0 && !by_data(spec.op)) spec.parent = p->second.parent;
  }
  return operands[1] == nullptr ||
         (operands[1]->tree == operands[0]->tree && operands[1]->parent == operands[0]->parent &&
          operands[1]->colours == operands[0]->colours &&
          operands[1]->colour_dim == operands[0]->colour_dim);
}

/// What a partition by data reads. In children nobody knows the values yet.
bool World::take_data(const PartitionSpec& spec, const ResolvedPartition* operand,
                      Resolved& r) const {
  using Op = PartitionSpec::Op;
  if (arguments_ != nullptr) return false;
  const ResolvedPartition& is = r.partition;
  const bool image = spec.op == Op::image;
  r.source.tree = image ? operand->tree : is.tree;
  r.source.points = image ? operand->parent : is.parent;
  r.source.field = spec.field;
  const Shape& from = shape(r.source.tree);
  if (spec.field >= static_cast<int>(from.fields.size()) || !readable(r.source) ||
      poisoned_(r.source))
    return false;
  const ValueKind kind = from.fields[static_cast<std::size_t>(spec.field)];
  if (spec.op == Op::by_colour) return pointer_dim(kind) > 0;
  return pointer_dim(kind) == shape(image ? is.tree : operand->tree).dim;
}

bool World::partition(const Statement& s, Resolved& r) {
  using Op = PartitionSpec::Op;
  PartitionSpec& spec = r.spec.partition;
  if (partitions_.contains(s.id)) return false;
  const ResolvedPartition* operands[2] = {nullptr, nullptr};
  if (!take_operands(spec, operands)) return false;
  ResolvedPartition& is = r.partition;
  if (!find(spec.parent, is.tree, is.parent) || is.parent == 0) return false;
  const Shape& of = shape(is.tree);
  PointerValues pointers;
  if (by_data(spec.op)) {
    if (!take_data(spec, operands[0], r)) return false;
    pointers.at = [&](int point) { return read_(r.source.tree, spec.field, point); };
    if (spec.op == Op::preimage) pointers.into = &shape(operands[0]->tree);
  }
  if (spec.op == Op::blocks) spec.colour_dim = of.dim;
  if (spec.op == Op::by_colour)
    spec.colour_dim = pointer_dim(of.fields[static_cast<std::size_t>(spec.field)]);
  if (spec.op == Op::pieces) {
    spec.colour_dim = 1;
    spec.numbers = {static_cast<Coord>(spec.pieces.size()), 1, 1};
  }
  if (operands[0] != nullptr) {
    is.colours = operands[0]->colours;
    is.colour_dim = operands[0]->colour_dim;
  } else {  // in children the argument may not be the one that was thought of
    for (int d = spec.colour_dim; d < 3; ++d) spec.numbers[d] = 1;
    is.colours = spec.numbers;
    is.colour_dim = spec.colour_dim;
  }
  is.root = spec.parent.root;
  if (spec.parent.partition >= 0) is.root = partitions_.at(spec.parent.partition).is.root;
  is.pieces = make_pieces(of, spec, is.parent, operands[0], operands[1], pointers);
  partitions_[s.id] = {is, spec.parent, true};
  return true;
}

bool World::destroy(const Statement& s, Resolved& r) {
  if (arguments_ != nullptr) return false;
  if (s.kind == Statement::Kind::destroy_region) {
    const auto found = regions_.find(s.id);
    if (found == regions_.end()) return false;
    r.tree = found->second;
    regions_.erase(found);
    for (const auto& [id, attachment] : attachments_)
      if (attachment.is.tree == r.tree) r.detached.push_back({id});
    for (const Detached& detached : r.detached) attachments_.erase(detached.id);
    for (auto& [id, p] : partitions_)
      if (p.is.tree == r.tree) p.alive = false;
    return true;
  }
  const auto found = partitions_.find(s.id);
  if (found == partitions_.end() || !found->second.alive) return false;
  const ResolvedPartition dead = found->second.is;
  // Equal partitions are one, so an equal one is gone too; here every one with the same pieces counts.
  for (auto& [id, p] : partitions_)
    if (p.is.tree == dead.tree && p.is.pieces == dead.pieces) p.alive = false;
  for (auto& [id, p] : partitions_) {
    const auto above = partitions_.find(p.parent.partition);
    if (above != partitions_.end() && !above->second.alive) p.alive = false;
  }
  return true;
}

/// In children: only the parent's field of that argument, and no more than its privilege.
bool World::allowed(const RequirementSpec& q, int root) const {
  if (arguments_ == nullptr) return true;
  const ResolvedArgument& has_it = (*arguments_)[static_cast<std::size_t>(root)];
  if (has_it.field != q.field) return false;
  switch (has_it.privilege) {
    case Privilege::write:  // all of it is written before the first child
    case Privilege::read_write: return true;
    case Privilege::reduce: return q.privilege == Privilege::reduce && q.op == has_it.op;
    default: return has_it.privilege == q.privilege;
  }
}

bool World::argument(const RequirementSpec& q, ResolvedArgument& a) const {
  if (!find(q.region, a.tree, a.points)) return false;
  if (q.field >= static_cast<int>(shape(a.tree).fields.size())) return false;
  a.field = q.field;
  a.privilege = q.privilege;
  a.op = q.op;
  a.relaxed = is_relaxed(q, shape(a.tree));
  return true;
}

bool World::take_requirement(const RequirementSpec& q, Resolved& r) const {
  std::vector<ResolvedArgument> mine;
  int root = q.region.root;
  if (q.partitioned) {
    if (!r.spec.launch.domain.group) return false;
    const auto p = partitions_.find(q.partition);
    if (p == partitions_.end() || !p->second.alive) return false;
    root = p->second.is.root;
    const ResolvedPartition& is = p->second.is;
    if (q.projection.kind == ProjectionSpec::Kind::identity &&
        is.colour_dim != r.spec.launch.domain.dim)
      return false;
    if (q.field >= static_cast<int>(shape(is.tree).fields.size())) return false;
    for (const PointTask& t : r.points) {
      const int c = is.find(project(q.projection, t.point));
      if (c < 0) return false;
      mine.push_back({is.tree, q.field, is.pieces[static_cast<std::size_t>(c)], q.privilege, q.op,
                      is_relaxed(q, shape(is.tree))});
    }
  } else {
    ResolvedArgument a;
    if (!argument(q, a)) return false;
    if (q.region.partition >= 0) root = partitions_.at(q.region.partition).is.root;
    mine.assign(r.points.size(), a);
  }
  if (q.privilege == Privilege::reduce &&
      !is_number(shape(mine[0].tree).fields[static_cast<std::size_t>(q.field)]))
    return false;
  if (!allowed(q, root) || !std::ranges::all_of(mine, [&](auto& a) { return readable(a); }))
    return false;
  for (std::size_t i = 0; i < mine.size(); ++i)
    for (std::size_t j = 0; j < r.points.size(); ++j) {
      if (i != j && conflict(mine[i], mine[j])) return false;
      for (const ResolvedArgument& other : r.points[j].arguments)
        if (conflict(mine[i], other)) return false;
    }
  for (std::size_t i = 0; i < mine.size(); ++i) r.points[i].arguments.push_back(mine[i]);
  return true;
}

bool World::launch(const Statement& s, Resolved& r) {
  const LaunchSpec& l = s.launch;
  const TaskSpec& task = plan_->tasks[static_cast<std::size_t>(l.task)];
  if (l.future >= 0 && (!task.returns || futures_.contains(l.future))) return false;
  for (const Point<3>& p : l.domain.points) {
    PointTask& t = r.points.emplace_back();
    t.point = p;
    t.number = point_tasks_++;
    if (static_cast<int>(r.points.size()) - 1 == l.throws_at)
      t.throws = l.throws_late ? PointTask::Throws::late : PointTask::Throws::early;
  }
  if (r.points.empty()) return false;
  r.spec.launch.requirements.clear();
  for (const RequirementSpec& q : l.requirements)
    if (take_requirement(q, r)) r.spec.launch.requirements.push_back(q);
  std::erase_if(r.spec.launch.futures, [&](int f) { return !future(f, false, nullptr); });
  for (PointTask& t : r.points) children(s, t);
  if (l.future >= 0) futures_[l.future] = {task.result, l.domain.group};
  return true;
}

void World::children(const Statement& s, PointTask& task) {
  World inside(*plan_, read_, poisoned_);
  inside.point_tasks_ = point_tasks_;
  inside.arguments_ = &task.arguments;
  inside.tree_shapes_ = tree_shapes_;
  for (const Statement& child : s.launch.children) {
    using Kind = Statement::Kind;
    if (child.kind != Kind::partition && child.kind != Kind::launch && child.kind != Kind::fence &&
        child.kind != Kind::begin_trace && child.kind != Kind::end_trace)
      continue;
    Resolved resolved;
    if (inside.apply(child, resolved)) task.children.push_back(std::move(resolved));
  }
  point_tasks_ = inside.point_tasks_;
}

bool World::copy(const Statement& s, Resolved& r) const {
  if (!argument(s.source, r.source) || !argument(s.target, r.target)) return false;
  r.source.privilege = Privilege::read;
  r.target.privilege = Privilege::write;
  const Shape &from = shape(r.source.tree), &to = shape(r.target.tree);
  if (from.dim != to.dim || from.fields[static_cast<std::size_t>(s.source.field)] !=
                                to.fields[static_cast<std::size_t>(s.target.field)])
    return false;
  for (int i = 0; i < static_cast<int>(to.points.size()); ++i) {
    if (!has(r.target.points, i)) continue;
    const int j = from.find(to.points[static_cast<std::size_t>(i)]);
    if (j < 0 || !has(r.source.points, j)) return false;
  }
  return !conflict(r.source, r.target) && readable(r.source);
}

bool is_disjoint(const ResolvedPartition& partition) {
  Mask before = 0;
  for (const Mask piece : partition.pieces) {
    if ((before & piece) != 0) return false;
    before |= piece;
  }
  return true;
}

bool World::attach(const Statement& s, Resolved& r) {
  if (arguments_ != nullptr || attachments_.contains(s.id)) return false;
  RequirementSpec whole = s.target;
  whole.partitioned = false;
  if (s.target.partitioned) {
    const auto found = partitions_.find(s.target.partition);
    if (found == partitions_.end() || !found->second.alive) return false;
    whole.region = found->second.parent;
    r.partition = found->second.is;
  }
  if (!argument(whole, r.target)) return false;
  r.target.privilege = Privilege::write;
  if (s.target.partitioned) {
    if (!is_disjoint(r.partition)) return false;
    r.target.points = 0;
    for (const Mask piece : r.partition.pieces) r.target.points |= piece;
  }
  if (r.target.points == 0) return false;
  for (const auto& [id, other] : attachments_)
    if (conflict(r.target, other.is)) return false;
  attachments_[s.id] = {r.target, whole.region, s.target.partitioned ? s.target.partition : -1};
  return true;
}

bool World::detach(const Statement& s, Resolved& r) {
  const auto found = attachments_.find(s.id);
  int tree = 0;
  Mask points = 0;
  if (found == attachments_.end() || !find(found->second.region, tree, points)) return false;
  if (const int by = found->second.partition; by >= 0 && !partitions_.at(by).alive) return false;
  r.target = found->second.is;
  r.target.privilege = Privilege::read_write;
  r.detached.push_back({s.id});
  without_values_[{r.target.tree, r.target.field}] |= r.target.points;
  attachments_.erase(found);
  return true;
}

bool World::future(int id, bool map, const ValueKind* kind) const {
  const auto f = futures_.find(id);
  if (f == futures_.end() || f->second.map != map) return false;
  return kind == nullptr || f->second.kind == *kind;
}

std::vector<Statement> World::last_statements() const {
  std::vector<Statement> reads;
  for (const auto& [id, tree] : regions_)
    for (int f = 0; f < static_cast<int>(shape(tree).fields.size()); ++f) {
      Statement s;
      s.kind = Statement::Kind::access;
      s.target.region.root = id;
      s.target.field = f;
      reads.push_back(s);
    }
  for (const auto& [id, f] : futures_)
    if (!f.map) {
      Statement s;
      s.kind = Statement::Kind::get;
      s.future = id;
      reads.push_back(s);
    }
  for (const auto& [id, attachment] : attachments_) {
    if (id == attachments_.rbegin()->first) break;
    Statement s;
    int tree = 0;
    Mask points = 0;
    const int by = attachment.partition;
    const bool there =
        find(attachment.region, tree, points) && (by < 0 || partitions_.at(by).alive);
    s.kind = there ? Statement::Kind::detach : Statement::Kind::destroy_region;
    s.id = id;
    for (const auto& [region, its_tree] : regions_)
      if (!there && its_tree == attachment.is.tree) s.id = region;
    reads.push_back(s);
  }
  return reads;
}

}  // namespace refrain::test
