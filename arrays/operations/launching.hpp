#pragma once
// Launches of this library's tasks that are not element-wise: arrays by their storage, and a block of by-value
// arguments.

#include <initializer_list>
#include <source_location>

#include "plain_task.hpp"
#include "refrain/context.hpp"
#include "session_impl.hpp"
#include "small.hpp"
#include "storage/memory.hpp"

namespace refrain::arrays::detail {

/// What a task does with an array: all of it, or per point the elements of a range.
struct Use {
  Storage* storage;
  Privilege privilege;
  std::shared_ptr<const Ranges> ranges = nullptr;
};

/// `work`: simple operations that all points have to do (is_small).
AnyFuture launch(SessionImpl& session, const DynamicTask& task, int points,
                 std::span<const Use> uses, void* values, const ValueOps& ops, Coord work,
                 const Where& where, bool wants_future = false);

/// `values` are moved into the launch.
template <class Values>
AnyFuture launch(SessionImpl& session, const DynamicTask& task, int points,
                 std::span<const Use> uses, Values values, Coord work, const Where& where,
                 bool wants_future = false) {
  return launch(session, task, points, uses, &values, value_ops<Values>, work, where, wants_future);
}
template <class Values>
AnyFuture launch(SessionImpl& session, const DynamicTask& task, int points,
                 std::initializer_list<Use> uses, Values values, Coord work, const Where& where,
                 bool wants_future = false) {
  return launch(session, task, points, std::span<const Use>(uses.begin(), uses.size()),
                std::move(values), work, where, wants_future);
}

}  // namespace refrain::arrays::detail
