#pragma once
// Where an instance has failures in place of values. An operation that does not run, or throws, leaves its failure at all
// points that it should have written; an operation that finds one at a point that it reads does not run, and leaves
// the same one. Copies and folds go on point by point: they move the failures of some points and the values of others.
// So it makes no difference to a program how data is divided among operations, unless one of these throws itself.
//
// Any thread: relaxed folds, and readers, of an instance may meet. The order of operations says who sees what: an operation
// comes after those whose values or failures it finds, and asks only where Failure::any() is true.
//
// Cost: while no operation has failed, a load of one counter per operation. Notes of one failure are one set of points.
// Where there is no memory for sets of points, all of the instance gets the failure: more may fail then, nothing less.

#include <mutex>
#include <vector>

#include "base/sure_memory.hpp"
#include "data/index_space.hpp"
#include "graph/failure.hpp"

namespace refrain::analysis {

/// Points with one failure.
struct Poisoned {
  data::IndexSpaceRef points;
  exec::FailureRef failure;
};

class Poison {
 public:
  /// Of `points`, those with failures: disjoint.
  [[nodiscard]] std::vector<Poisoned> at(const data::IndexSpaceRef& points) const;
  /// The first of the failures there, by launch order; null: there are values.
  [[nodiscard]] exec::FailureRef first_at(const data::IndexSpaceRef& points) const;
  /// The points are written, with values (null) or with a failure.
  void write(const data::IndexSpaceRef& points, const exec::FailureRef& failure) noexcept;
  /// Contributions of the points are lost. Where another failure is, the first of both stays.
  void fold(const data::IndexSpaceRef& points, const exec::FailureRef& failure) noexcept;

 private:
  [[nodiscard]] bool reaches(const Poisoned& note, const data::IndexSpaceRef& points) const;
  void add(const data::IndexSpaceRef& points, const exec::FailureRef& failure);
  void poison_everything(exec::FailureRef failure) noexcept;

  mutable std::mutex mutex_;
  /// Disjoint, each with another failure. One without points is everywhere, and alone.
  std::vector<Poisoned, SureAllocator<Poisoned>> notes_;
};

}  // namespace refrain::analysis
