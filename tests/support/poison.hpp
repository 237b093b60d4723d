#pragma once
// Failures as a sequential program sees them, in one context: which data lacks values because a task that
// should have written them threw, and what the program has not been told yet.
//
// Point tasks are numbered in program order. Where several failures meet, that of the task launched first
// stays. An operation that reads poisoned data does not run, and poisons what it would have written; a
// write that reads nothing heals.

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
      if (const auto at = data_.find({a.tree, a.field, i}); has(a.points, i) && at != data_.end())
        found = first_of(found, at->second);
    return found;
  }
  /// An operation wrote the argument, or failed to.
  void write(const ResolvedArgument& a, Failure failure) {
    for (int i = 0; i < max_points; ++i)
      if (has(a.points, i)) data_[{a.tree, a.field, i}] = failure;
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
