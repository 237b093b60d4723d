#pragma once
// The parts that random plans are put together from: shapes, partitions, launch domains, projections,
// privileges, the children of nested tasks.

#include <map>
#include <vector>

#include "support/random.hpp"
#include "support/resolve.hpp"

namespace refrain::test {

Shape random_shape(Random& random, int max_dim, bool pointers);
/// Fills in a partition that needs no operands: blocks, a restriction or explicit pieces.
void fill_partition(Random& random, const Shape& shape, PartitionSpec& spec);
/// Points for a group launch: often the colours of `like` or some of them.
DomainSpec random_domain(Random& random, const ResolvedPartition* like);
/// A projection of the domain's points to colours of the partition.
ProjectionSpec random_projection(Random& random, const ResolvedPartition& partition,
                                 const DomainSpec& domain);
void random_privilege(Random& random, bool reductions, RequirementSpec& requirement);

/// An argument of a task that launches children.
struct ChildArgument {
  const Shape* shape;
  int field;
  Privilege privilege;
  OpKind op;
};
std::vector<Statement> random_children(Random& random, const std::vector<ChildArgument>& arguments,
                                       int tasks, int depth);

/// Makes a point of the launch throw, or one of its children's; mostly none.
void random_throws(Random& random, LaunchSpec& launch);

/// Gives fresh numbers to what a repeated body of statements makes.
struct Renaming {
  std::map<int, int> regions, partitions, futures, attachments;
  int *next_region, *next_partition, *next_future, *next_attachment;
  void apply(Statement& s);
};

}  // namespace refrain::test
