#include "support/interpreter.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "support/attached_memory.hpp"
#include "support/body.hpp"
#include "support/random.hpp"

namespace refrain::test {

namespace {

/// Values in the region's own array.
class ArrayView : public View {
 public:
  ArrayView(const ResolvedArgument& is, const Shape& shape, std::byte* values)
      : View(is, shape), values_(values) {}
  void* at(int point) override {
    return values_ + static_cast<std::size_t>(point) * size_of(kind());
  }

 private:
  std::byte* values_;
};

/// An accumulator for every point, folded into the region's array on demand.
class AccumulatorView : public View {
 public:
  AccumulatorView(const ResolvedArgument& is, const Shape& shape)
      : View(is, shape), values_(static_cast<std::size_t>(points()) * size_of(kind())) {
    op().initialise(values_.data(), static_cast<std::size_t>(points()));
  }
  void* at(int point) override { return values_.data() + offset(point); }
  void fold_into(std::byte* region) {
    const auto size = static_cast<std::ptrdiff_t>(size_of(kind()));
    for (int i = 0; i < points(); ++i)
      if (has(argument().points, i))
        op().fold(region + offset(i), size, values_.data() + offset(i), size, 1);
  }

 private:
  const ReductionOp& op() const { return op_of(argument().op, kind()); }
  std::size_t offset(int point) const { return static_cast<std::size_t>(point) * size_of(kind()); }
  std::vector<std::byte> values_;
};

}  // namespace

void* Interpreter::address(int tree, int field, int point) {
  Tree& t = trees_[static_cast<std::size_t>(tree)];
  const auto f = static_cast<std::size_t>(field);
  return t.fields[f].data() + static_cast<std::size_t>(point) * size_of(t.shape->fields[f]);
}

Point<3> Interpreter::pointed_at(int tree, int field, int point) {
  const Shape& shape = *trees_[static_cast<std::size_t>(tree)].shape;
  return pointed(shape.fields[static_cast<std::size_t>(field)], address(tree, field, point));
}

void Interpreter::observe(std::span<const std::byte> values) {
  observed_.push_back({executed_, {values.begin(), values.end()}, -1});
}

void Interpreter::observe(Failure failure) {
  observed_.push_back({executed_, {}, failure.cause});
  poison_.told(failure);
}

void Interpreter::execute(Resolved& r) {
  perform(r);
  ++executed_;
}

/// The end tells the first failure that is not known. What attachments cannot have is no news then.
void Interpreter::finish(std::vector<Detached>& left) {
  if (const Failure failure = poison_.untold()) observe(failure);
  for (Detached& end : left) {
    end.lost = static_cast<bool>(poison_.of(attached_.at(end.id)));
    if (!end.lost) observe(values_of(attached_.at(end.id)));
  }
}

void Interpreter::perform(Resolved& r) {
  using Kind = Statement::Kind;
  switch (r.spec.kind) {
    case Kind::create: create(r); break;
    case Kind::launch: launch(r); break;
    case Kind::reduce: reduce(r); break;
    case Kind::copy: copy(r); break;
    case Kind::access: access(r); break;
    case Kind::attach: attach(r); break;
    case Kind::detach:
    case Kind::destroy_region: detach(r.detached); break;
    case Kind::fill:
    case Kind::fill_future: fill(r); break;
    case Kind::get: {
      const FutureValue& future = futures_.at(r.spec.future);
      const auto failed =
          std::ranges::find_if(future.failures, [](const Failure& f) { return bool(f); });
      if (failed != future.failures.end()) observe(*failed);
      else
        for (const Value& value : future.values) observe(value);
      break;
    }
    case Kind::fence:
      if (const Failure failure = poison_.untold(); failure && parent_ == nullptr) observe(failure);
      break;
    default: break;
  }
}

void Interpreter::fill(const Resolved& r) {
  Tree& t = trees_[static_cast<std::size_t>(r.target.tree)];
  const ValueKind kind = t.shape->fields[static_cast<std::size_t>(r.target.field)];
  std::array<std::byte, max_value_size> value{};
  Failure failure;
  if (r.spec.kind == Statement::Kind::fill) {
    write_value(kind, value.data(), r.spec.salt);
  } else {
    const FutureValue& future = futures_.at(r.spec.future);
    std::ranges::copy(future.values[0], value.begin());
    failure = future.failures[0];
  }
  for (int i = 0; i < static_cast<int>(t.shape->points.size()); ++i)
    if (has(r.target.points, i))
      std::memcpy(address(r.target.tree, r.target.field, i), value.data(), size_of(kind));
  poison_.write(r.target, failure);
}

void Interpreter::create(const Resolved& r) {
  Tree t;
  t.shape = &(*shapes_)[static_cast<std::size_t>(r.spec.shape)];
  for (const ValueKind kind : t.shape->fields)
    t.fields.emplace_back(t.shape->points.size() * size_of(kind));
  trees_.push_back(std::move(t));
}

/// Runs a point task unless something that it reads failed; the failure, if it or its data failed.
Failure Interpreter::run_point(const Resolved& r, PointTask& task, FutureValue& result) {
  Failure failure;
  for (const ResolvedArgument& a : task.arguments)
    if (reads(a.privilege)) failure = first_of(failure, poison_.of(a));
  for (const int f : r.spec.launch.futures) failure = first_of(failure, futures_.at(f).failures[0]);
  if (failure) {
    task.children.clear();
  } else {
    failure = run_body_of(r, task, result);
    if (failure) poison_.thrown(failure);
  }
  if (failure) leave(task, failure);
  return failure;
}

/// What a task that failed leaves behind.
void Interpreter::leave(const PointTask& task, Failure failure) {
  for (const ResolvedArgument& a : task.arguments)
    if (a.privilege == Privilege::reduce) poison_.fold(a, failure);
    else if (writes(a.privilege)) poison_.write(a, failure);
}

Failure Interpreter::run_body_of(const Resolved& r, PointTask& task, FutureValue& result) {
  std::vector<std::unique_ptr<View>> views;
  std::vector<View*> arguments;
  for (const ResolvedArgument& a : task.arguments) {
    const Shape& shape = *trees_[static_cast<std::size_t>(a.tree)].shape;
    if (a.privilege == Privilege::reduce)
      views.push_back(std::make_unique<AccumulatorView>(a, shape));
    else
      views.push_back(std::make_unique<ArrayView>(
          a, shape, static_cast<std::byte*>(address(a.tree, a.field, 0))));
    arguments.push_back(views.back().get());
  }
  std::vector<std::uint64_t> futures;
  futures.reserve(r.spec.launch.futures.size());
  for (const int f : r.spec.launch.futures) futures.push_back(future_bits(f));
  const std::uint64_t digest = run_body(r.spec.launch.salt, task.point, futures, arguments);
  if (task.throws == PointTask::Throws::early) task.children.clear();
  Failure failure = run_children(task, arguments);
  if (!failure && task.throws != PointTask::Throws::no) failure = {task.number, task.number};
  if (failure) return failure;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const ResolvedArgument& a = task.arguments[i];
    if (a.privilege == Privilege::write) poison_.write(a, {});
    auto* accumulator = dynamic_cast<AccumulatorView*>(views[i].get());
    // What is poisoned stays so.
    if (accumulator != nullptr) accumulator->fold_into(fold_target(a));
  }
  make_result(result.kind, digest, result.values.back().data());
  return {};
}

/// The children, up to the fence that throws; the failure with which that ends the body, or its end does.
Failure Interpreter::run_children(PointTask& task, const std::vector<View*>& views) {
  const Parent here{task.arguments, views};
  const Parent* const outer = std::exchange(parent_, &here);
  const Poison outside = std::exchange(poison_, {});
  bool at_fence = false;
  for (std::size_t i = 0; i < task.children.size() && !at_fence; ++i) {
    perform(task.children[i]);
    at_fence = task.children[i].spec.kind == Statement::Kind::fence && poison_.untold();
    if (at_fence) task.children.resize(i + 1);
  }
  Failure failure = poison_.untold();
  if (!at_fence && task.throws == PointTask::Throws::late) failure = {};  // its own comes first
  parent_ = outer;
  poison_ = outside;
  return failure ? Failure{task.number, failure.cause} : Failure{};
}

/// The region's array; what a reducing parent launches contributes to the parent's accumulator.
std::byte* Interpreter::fold_target(const ResolvedArgument& a) {
  for (std::size_t i = 0; parent_ != nullptr && i < parent_->arguments.size(); ++i) {
    const ResolvedArgument& has_it = parent_->arguments[i];
    if (has_it.privilege == Privilege::reduce && has_it.op == a.op && has_it.tree == a.tree &&
        has_it.field == a.field && (a.points & ~has_it.points) == 0)
      return static_cast<std::byte*>(parent_->views[i]->at(0));
  }
  return static_cast<std::byte*>(address(a.tree, a.field, 0));
}

void Interpreter::launch(Resolved& r) {
  FutureValue future;
  future.kind = (*tasks_)[static_cast<std::size_t>(r.spec.launch.task)].result;
  for (PointTask& task : r.points) {
    future.values.emplace_back();
    future.failures.push_back(run_point(r, task, future));
  }
  if (r.spec.launch.future >= 0) futures_[r.spec.launch.future] = std::move(future);
}

/// The tree that is promised: the first half folded, then the second, then both.
void Interpreter::reduce(const Resolved& r) {
  const FutureValue& from = futures_.at(r.spec.future);
  const ReductionOp& op = op_of(r.spec.op, from.kind);
  const auto tree = [&](auto&& self, std::size_t first, std::size_t last) -> Value {
    if (last - first == 1) return from.values[first];
    const std::size_t middle = first + (last - first) / 2;
    Value left = self(self, first, middle);
    const Value right = self(self, middle, last);
    op.fold(left.data(), 8, right.data(), 8, 1);
    return left;
  };
  const Failure failure =
      std::accumulate(from.failures.begin(), from.failures.end(), Failure{}, first_of);
  futures_[r.spec.id] = {from.kind, {tree(tree, 0, from.values.size())}, {failure}};
}

void Interpreter::copy(const Resolved& r) {
  const Shape& from = *trees_[static_cast<std::size_t>(r.source.tree)].shape;
  const Shape& to = *trees_[static_cast<std::size_t>(r.target.tree)].shape;
  const std::size_t size = size_of(to.fields[static_cast<std::size_t>(r.target.field)]);
  for (int i = 0; i < static_cast<int>(to.points.size()); ++i) {
    if (!has(r.target.points, i)) continue;
    const int j = from.find(to.points[static_cast<std::size_t>(i)]);
    std::memcpy(address(r.target.tree, r.target.field, i),
                address(r.source.tree, r.source.field, j), size);
    poison_.write(r.target.tree, r.target.field, i, poison_.at(r.source.tree, r.source.field, j));
  }
}

void Interpreter::access(const Resolved& r) {
  const Failure failure = reads(r.target.privilege) ? poison_.of(r.target) : Failure{};
  if (writes(r.target.privilege)) poison_.write(r.target, failure);
  if (failure) return observe(failure);
  const Shape& shape = *trees_[static_cast<std::size_t>(r.target.tree)].shape;
  ArrayView view(r.target, shape,
                 static_cast<std::byte*>(address(r.target.tree, r.target.field, 0)));
  View* views[] = {&view};
  run_body(r.spec.salt, {}, {}, views);
  observe(contents(view));
}

void Interpreter::attach(const Resolved& r) {
  const Shape& shape = *trees_[static_cast<std::size_t>(r.target.tree)].shape;
  for (int i = 0; i < static_cast<int>(shape.points.size()); ++i)
    if (has(r.target.points, i))
      write_attached(shape.fields[static_cast<std::size_t>(r.target.field)],
                     address(r.target.tree, r.target.field, i), r.spec.salt, i);
  poison_.write(r.target, {});
  attached_[r.spec.id] = r.target;
}

/// The program hears the first failure of all.
void Interpreter::detach(std::vector<Detached>& ended) {
  Failure failure;
  for (Detached& end : ended) {
    const Failure its = poison_.of(attached_.at(end.id));
    end.lost = static_cast<bool>(its);
    failure = first_of(failure, its);
    poison_.write(attached_.at(end.id), {});
  }
  if (failure) observe(failure);
  for (const Detached& end : ended)
    if (!end.lost) observe(values_of(attached_.at(end.id)));
}

std::vector<std::byte> Interpreter::values_of(const ResolvedArgument& is) {
  ArrayView view(is, *trees_[static_cast<std::size_t>(is.tree)].shape,
                 static_cast<std::byte*>(address(is.tree, is.field, 0)));
  return contents(view);
}

std::uint64_t Interpreter::future_bits(int id) const {
  const FutureValue& f = futures_.at(id);
  return value_bits(f.kind, f.values[0].data());
}

Program resolve(const Plan& plan, std::vector<Observation>* expected) {
  Program program{plan.seed, plan.shapes, plan.tasks, {}, {}, {}};
  Interpreter interpreter(plan.shapes, plan.tasks);
  World world(
      plan,
      [&](int tree, int field, int point) { return interpreter.pointed_at(tree, field, point); },
      [&](const ResolvedArgument& a) { return static_cast<bool>(interpreter.poison(a)); });
  const auto take = [&](const Statement& s) {
    Resolved resolved;
    if (!world.apply(s, resolved)) return;
    interpreter.execute(resolved);
    program.statements.push_back(std::move(resolved));
  };
  for (const Statement& s : plan.statements) take(s);
  for (const Statement& s : world.last_statements()) take(s);
  program.tree_shapes = world.tree_shapes();
  for (const auto& [id, attachment] : world.attachments()) program.left.push_back({id});
  interpreter.finish(program.left);
  if (expected != nullptr) *expected = interpreter.observed();
  return program;
}

}  // namespace refrain::test
