#pragma once
// Launches of this library's tasks that are not element-wise: arrays by their storage, and a block of by-value
// arguments.

#include <initializer_list>
#include <source_location>

#include "refrain/context.hpp"
#include "session_impl.hpp"
#include "storage/memory.hpp"

namespace refrain::arrays {

/// A task whose body is a mere function and launches nothing.
DynamicTask plain_task(const char* name, void (*body)(const TaskFrame&), ResultType result = {});

/// What a task does with an array: all of it, or per point the elements of a range.
struct Use {
  Storage* storage;
  Privilege privilege;
  std::shared_ptr<const Ranges> ranges = nullptr;
};

/// How elements are dealt to the points of a launch: by an array's tiles.
std::shared_ptr<const Ranges> tiles_of(detail::SessionImpl& session, const Tiling& tiling);

AnyFuture launch(detail::SessionImpl& session, const DynamicTask& task, int points,
                 std::span<const Use> uses, void* values, const ValueOps& ops, bool small,
                 const Where& where, bool wants_future = false);

/// `values` are moved into the launch.
template <class Values>
AnyFuture launch(detail::SessionImpl& session, const DynamicTask& task, int points,
                 std::initializer_list<Use> uses, Values values, bool small, const Where& where,
                 bool wants_future = false) {
  return launch(session, task, points, {uses.begin(), uses.size()}, &values, value_ops<Values>,
                small, where, wants_future);
}

}  // namespace refrain::arrays
