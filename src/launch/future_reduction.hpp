#pragma once
// One value from those of a group: an operation that comes after the tasks which make them.
//
// Made by the context's thread; run by any, once.

#include <exception>

#include "graph/executor.hpp"
#include "launch/future_state.hpp"
#include "refrain/future.hpp"
#include "refrain/reduction.hpp"

namespace refrain::runtime {

struct FutureReduction {
  AnyFuture values;
  AnyFuture result;
  const ReductionOp* op = nullptr;

  /// Settles the result. `fail(error)` makes the failure of the operation when the operator throws.
  template <class Fail>
  void run(const exec::Failure* failure, Fail fail) {
    detail::FutureState& made = *result.state();
    if (failure != nullptr) return made.fail(0, *failure);
    try {
      fold();
      made.finish(0);
    } catch (...) {  // the operator is the program's
      made.fail(0, fail(std::current_exception()));
    }
  }

 private:
  void fold();
};

}  // namespace refrain::runtime
