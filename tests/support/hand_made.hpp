#pragma once
// Small plans made by hand, for testing the judges themselves: one-dimensional regions with one field of
// doubles, tasks without results.

#include <algorithm>
#include <utility>

#include "support/plan.hpp"

namespace refrain::test {

struct HandMade {
  Plan plan;
  int regions = 0, partitions = 0;

  HandMade() { plan.tasks.push_back({false, ValueKind::f64, true}); }

  void region(int points) {
    Shape shape{1, {}, {ValueKind::f64}};
    for (int i = 0; i < points; ++i) shape.points.push_back({i, 0, 0});
    plan.shapes.push_back(shape);
    Statement& s = add(Statement::Kind::create);
    s.shape = static_cast<int>(plan.shapes.size()) - 1;
    s.id = regions++;
  }
  void blocks(int region, int n) {
    Statement& s = add(Statement::Kind::partition);
    s.id = partitions++;
    s.partition.parent.root = region;
    s.partition.numbers = {n, 1, 1};
  }
  void destroy_region(int id) { add(Statement::Kind::destroy_region).id = id; }
  void destroy_partition(int id) { add(Statement::Kind::destroy_partition).id = id; }
  void fill(int region) {
    Statement& s = add(Statement::Kind::fill);
    s.target = whole(Privilege::write);
    s.target.region.root = region;
    s.salt = 1234;
  }
  void fence() { add(Statement::Kind::fence); }
  void copy(int from, int to) {
    Statement& s = add(Statement::Kind::copy);
    s.source = whole(Privilege::read);
    s.target = whole(Privilege::write);
    s.source.region.root = from;
    s.target.region.root = to;
  }
  /// A group over 0 .. points-1; a single launch where points is 0.
  void launch(int points, std::vector<RequirementSpec> requirements) {
    Statement& s = add(Statement::Kind::launch);
    s.launch.salt = plan.statements.size();
    s.launch.domain.group = points > 0;
    for (int i = 0; i < std::max(points, 1); ++i) s.launch.domain.points.push_back({i, 0, 0});
    s.launch.requirements = std::move(requirements);
  }
  /// Point p gets piece p of the partition.
  static RequirementSpec piece(int partition, Privilege privilege) {
    RequirementSpec q;
    q.partitioned = true;
    q.partition = partition;
    q.privilege = privilege;
    return q;
  }
  /// Region 0.
  static RequirementSpec whole(Privilege privilege, OpKind op = OpKind::sum) {
    RequirementSpec q;
    q.privilege = privilege;
    q.op = op;
    return q;
  }
  /// A reduction whose bits are the same in every order.
  static RequirementSpec relaxed(RequirementSpec q, OpKind op = OpKind::max) {
    q.privilege = Privilege::reduce;
    q.op = op;
    q.relaxed = true;
    return q;
  }
  /// One piece of a partition.
  static RequirementSpec part(int partition, int colour, Privilege privilege) {
    RequirementSpec q = whole(privilege);
    q.region.partition = partition;
    q.region.colour = colour;
    return q;
  }

 private:
  Statement& add(Statement::Kind kind) {
    plan.statements.emplace_back();
    plan.statements.back().kind = kind;
    return plan.statements.back();
  }
};

}  // namespace refrain::test
