#pragma once
// Failures as a sequential program sees them, in one context: which data lacks values because a task that
// should have written them threw, and what the program has not been told yet.
//
// Point tasks are numbered in program order. Where several failures meet, that of the task launched first
// stays. A task that reads poisoned data does not run, and poisons what it would have written; a
// write that reads nothing heals. Copies and contributions go on point by point.

#include <map>
#include <tuple>

#include "support/resolve.hpp"

namespace refrain::test {

struct Failure {
  int thrower = -1;  ///< the point task of this context whose body threw
  int cause = -1;    ///< where it began: that task, or one that it launched
  explicit operator bool() const { return thrower >= 0; }
};

inline Failure first_of(Failure a, Failure b) { return !a || (b && b.thrower < a.thrower) ? b : a; }

class Poison {
 public:
  /// Of any of the argument's points.
  [[nodiscard]] Failure of(const ResolvedArgument& a) const {
    Failure found;
    for (int i = 0; i < max_points; ++i)
      if (has(a.points, i)) found = first_of(found, at(a.tree, a.field, i));
    return found;
  }
  /// Of one point.
  [[nodiscard]] Failure at(int tree, int field, int point) const {
    const auto found = data_.find({tree, field, point});
    return found == data_.end() ? Failure{} : found->second;
  }
  void write(int tree, int field, int point, Failure failure) {
    data_[{tree, field, point}] = failure;
  }
  /// Contributions to the argument are lost.
  void fold(const ResolvedArgument& a, Failure failure) {
    for (int i = 0; i < max_points; ++i)
      if (has(a.points, i)) write(a.tree, a.field, i, first_of(at(a.tree, a.field, i), failure));
  }
  /// An operation wrote the argument, or failed to.
  void write(const ResolvedArgument& a, Failure failure) {
    for (int i = 0; i < max_points; ++i)
      if (has(a.points, i)) write(a.tree, a.field, i, failure);
  }
  void thrown(Failure failure) { untold_[failure.thrower] = failure; }
  void told(Failure failure) { untold_.erase(failure.thrower); }
  /// What a fence throws: the first failure that the program does not know.
  [[nodiscard]] Failure untold() const {
    return untold_.empty() ? Failure{} : untold_.begin()->second;
  }

 private:
  std::map<std::tuple<int, int, int>, Failure> data_;  ///< by tree, field, point
  std::map<int, Failure> untold_;                      ///< by thrower
};

}  // namespace refrain::test
