#include "support/sequential_order.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/text.hpp"

namespace refrain::test {

using exec::NodeKind;

SequentialOrder::SequentialOrder(const Program& program) : program_(&program) {
  for (const Resolved& r : program.statements) execute(r);
  for (const Detached& end : program.left) this->end(end.id);
  std::ranges::sort(flows_);
  flows_.erase(std::ranges::unique(flows_).begin(), flows_.end());
  close();
}

int SequentialOrder::find(const NaiveOperation& o) const {
  if (o.role != Role::call) return -1;
  const bool detach = o.kind == NodeKind::detach;
  const auto found = operations_.find({o.kind, detach ? nullptr : o.statement, o.part,
                                       detach                     ? static_cast<int>(o.rank)
                                       : o.kind == NodeKind::fold ? o.argument
                                                                  : -1});
  return found == operations_.end() ? -1 : found->second;
}

std::string SequentialOrder::describe(int operation) const {
  const Name& name = names_[static_cast<std::size_t>(operation)];
  if (name.statement == nullptr) return fmt::format("the end of attachment {}\n", name.part);
  return fmt::format("point {}, {} of {}", name.part,
                     name.kind == NodeKind::fold ? fmt::format("fold {}", name.argument) : "call",
                     to_text(*program_, *name.statement));
}

void SequentialOrder::execute(const Resolved& r) {
  using Kind = Statement::Kind;
  switch (r.spec.kind) {
    case Kind::launch: launch(r); break;
    case Kind::fill: set(add({NodeKind::fill, &r, 0, -1}), r.target, {}); break;
    case Kind::fill_future: {
      const int fill = add({NodeKind::fill, &r, 0, -1});
      const std::vector<int>& makers = producers_[r.spec.future];
      for (const int maker : makers) edges_.emplace_back(maker, fill);
      set(fill, r.target, makers);
      break;
    }
    case Kind::copy: copy(r); break;
    case Kind::access: use(add({NodeKind::access, &r, 0, -1}), r.target); break;
    case Kind::partition:
      if (by_data(r.spec.partition.op)) use(add({NodeKind::access, &r, 0, -1}), r.source);
      break;
    case Kind::reduce: {
      const int result = add({NodeKind::other, &r, 0, -1});
      for (const int maker : producers_[r.spec.future]) edges_.emplace_back(maker, result);
      flow(producers_[r.spec.future], result);
      producers_[r.spec.id] = {result};
      break;
    }
    case Kind::attach:
      attached_[r.spec.id] = &r;
      set(add({NodeKind::other, &r, 0, -1}), r.target, {});
      break;
    case Kind::detach:
    case Kind::destroy_region:
      for (const Detached& end : r.detached) this->end(end.id);
      break;
    default: break;
  }
}

void SequentialOrder::launch(const Resolved& r) {
  std::vector<int> tasks;
  for (std::size_t rank = 0; rank < r.points.size(); ++rank) {
    const std::vector<ResolvedArgument>& arguments = r.points[rank].arguments;
    const int task = add({NodeKind::task, &r, rank, -1});
    tasks.push_back(task);
    for (const ResolvedArgument& a : arguments)
      if (a.privilege != Privilege::reduce) use(task, a);
    for (const int future : r.spec.launch.futures) {
      for (const int maker : producers_[future]) edges_.emplace_back(maker, task);
      flow(producers_[future], task);
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].privilege != Privilege::reduce) continue;
      const int folded = add({NodeKind::fold, &r, rank, static_cast<int>(i)});
      edges_.emplace_back(task, folded);
      flow({task}, folded);
      fold(folded, arguments[i]);
    }
  }
  if (r.spec.launch.future >= 0) producers_[r.spec.launch.future] = tasks;
}

void SequentialOrder::copy(const Resolved& r) {
  const int operation = add({NodeKind::copy, &r, 0, -1});
  const Shape &from = program_->shape(r.source.tree), &to = program_->shape(r.target.tree);
  for (int i = 0; i < max_points; ++i) {
    if (!has(r.target.points, i)) continue;
    const int source = from.find(to.points[static_cast<std::size_t>(i)]);
    read(operation, r.source, source, i);
  }
  for (int i = 0; i < max_points; ++i)
    if (has(r.target.points, i)) write(operation, state(r.target, i));
}

void SequentialOrder::end(int attachment) {
  const Resolved& made = *attached_.at(attachment);
  ResolvedArgument part = made.target;
  part.privilege = Privilege::read_write;
  const std::size_t parts = made.spec.target.partitioned ? made.partition.pieces.size() : 1;
  for (std::size_t piece = 0; piece < parts; ++piece) {
    if (made.spec.target.partitioned) part.points = made.partition.pieces[piece];
    if (part.points != 0)
      use(add({NodeKind::detach, nullptr, static_cast<std::size_t>(attachment),
               static_cast<int>(piece)}),
          part);
  }
}

int SequentialOrder::add(const Name& name) {
  const int number = static_cast<int>(names_.size());
  operations_[name] = number;
  names_.push_back(name);
  return number;
}

SequentialOrder::PointState& SequentialOrder::state(const ResolvedArgument& argument, int point) {
  auto& points = fields_[{argument.tree, argument.field}];
  if (points.empty()) points.resize(program_->shape(argument.tree).points.size());
  return points[static_cast<std::size_t>(point)];
}

void SequentialOrder::flow(const std::vector<int>& makers, int to) {
  for (const int maker : makers) flows_.push_back({maker, to, -1, -1, -1, -1});
}

void SequentialOrder::flow(const std::vector<int>& makers, int to, const ResolvedArgument& by,
                           int point, int to_point) {
  for (const int maker : makers) flows_.push_back({maker, to, by.tree, by.field, point, to_point});
}

void SequentialOrder::read(int operation, const ResolvedArgument& argument, int point,
                           int to_point) {
  PointState& at = state(argument, point);
  flow(at.makers, operation, argument, point, to_point);
  if (at.writer >= 0) edges_.emplace_back(at.writer, operation);
  at.readers.push_back(operation);
  at.group.reset();
}

void SequentialOrder::write(int operation, PointState& at) {
  if (at.writer >= 0 && at.writer != operation) edges_.emplace_back(at.writer, operation);
  for (const int reader : at.readers)
    if (reader != operation) edges_.emplace_back(reader, operation);
  at = {};
  at.writer = operation;
  at.makers = {operation};
}

void SequentialOrder::use(int operation, const ResolvedArgument& argument) {
  for (int i = 0; i < max_points; ++i) {
    if (!has(argument.points, i)) continue;
    if (reads(argument.privilege)) read(operation, argument, i, i);
    if (writes(argument.privilege)) write(operation, state(argument, i));
  }
}

void SequentialOrder::fold(int operation, const ResolvedArgument& argument) {
  for (int i = 0; i < max_points; ++i) {
    if (!has(argument.points, i)) continue;
    PointState& at = state(argument, i);
    PointState before = at;
    const bool joins = argument.relaxed && at.group == argument.op;
    const std::vector<int>& read = joins ? before.before_group : before.makers;
    flow(read, operation, argument, i, i);
    write(operation, at);
    if (!argument.relaxed) continue;
    at.group = argument.op;
    at.before_group = read;
    if (joins) at.makers.insert(at.makers.end(), before.makers.begin(), before.makers.end());
  }
}

void SequentialOrder::set(int operation, const ResolvedArgument& argument,
                          const std::vector<int>& makers) {
  for (int i = 0; i < max_points; ++i) {
    if (!has(argument.points, i)) continue;
    PointState& at = state(argument, i);
    write(operation, at);
    at.makers = makers;
  }
}

void SequentialOrder::close() {
  std::ranges::sort(edges_, {}, [](const auto& edge) { return edge.second; });
  order_ = Order(names_.size(), names_.size());
  for (const auto& [from, to] : edges_) {
    order_.add(from, to);
    order_.inherit(from, to);
  }
}

}  // namespace refrain::test
