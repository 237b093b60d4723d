#pragma once
// The run-time launch API: tasks and launches whose arguments are described by values instead of types.
// The typed API (task.hpp, context.hpp) is built on it; so are libraries and other languages.
// Everything is checked when the launch is made; errors are those of the typed API.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "refrain/accessor.hpp"
#include "refrain/future.hpp"
#include "refrain/machine.hpp"
#include "refrain/packing.hpp"
#include "refrain/region.hpp"

namespace refrain {

class Context;

/// The points of a group launch: a number of points (0 .. n-1), a dense rectangle, or an index space, which
/// must live until the launch is made.
struct LaunchDomain {
  static constexpr int negative = -1;
  int dim = 1;  ///< or `negative`: rect.lo[0] points were asked for, which the launch refuses
  Rect<3> rect{{0, 0, 0}, {0, 0, 0}};
  const detail::SharedIndexSpace* sparse = nullptr;

  template <std::integral I>
  LaunchDomain(I points) : rect{{0, 0, 0}, {last_of(points), 0, 0}} {
    if constexpr (std::is_signed_v<I>) {
      if (points < 0) {
        dim = negative;
        rect.lo[0] = points;
      }
    }
  }
  template <int N>
  LaunchDomain(const Rect<N>& points) : dim(N), rect(detail::erase_dimension(points)) {}
  LaunchDomain(int rect_dim, const Rect<3>& points) : dim(rect_dim), rect(points) {}
  LaunchDomain(const AnyIndexSpace& points) : dim(points.dim()), sparse(&points.shared()) {}
  LaunchDomain(AnyIndexSpace&&) = delete;  // it would be gone before the launch

 private:
  /// Beyond what coordinates can be for more points than those, which the launch then refuses.
  template <std::integral I>
  static constexpr Coord last_of(I points) {
    if (points <= I{0}) return -1;
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Coord>::max());
    const std::uint64_t last = static_cast<std::uint64_t>(points) - 1;
    return static_cast<Coord>(last < most ? last : most);
  }
};

/// How to move and end a block of by-value arguments whose type the runtime does not know.
struct ValueOps {
  std::size_t size = 0;
  std::size_t alignment = 1;
  void (*move)(void* to,
               void* from) = nullptr;  ///< move-constructs `to`; `from` stays destructible
  void (*destroy)(void* values) = nullptr;
  /// Of those whose bytes say what they are (has_equal_bytes); null: there are none, or nobody needs to know.
  std::uint64_t (*hash)(const void* values) = nullptr;
};

/// Those of a C++ type.
template <class Values>
inline constexpr ValueOps value_ops{
    sizeof(Values), alignof(Values),
    [](void* to, void* from) { ::new (to) Values(std::move(*static_cast<Values*>(from))); },
    [](void* values) { static_cast<Values*>(values)->~Values(); }};

namespace detail {

/// Makes the Context of a running task when the body asks for it.
class ContextSource {
 public:
  virtual Context& context() = 0;
  virtual void parallel_for(std::int64_t count, std::int64_t grain,
                            const std::function<void(std::int64_t, std::int64_t)>& f) = 0;

 protected:
  ~ContextSource() = default;
};

}  // namespace detail

/// What a task body is called with.
struct TaskFrame {
  std::span<const PhysicalArgument> arguments;  ///< one per requirement
  void* values = nullptr;                       ///< the launch's by-value arguments
  std::span<const AnyFuture> futures;  ///< those of the launch request; their values are there
  void* result = nullptr;              ///< storage for the return value; null if the task has none
  Point<3> point{};                    ///< the point of a group launch
  std::size_t rank = 0;                ///< its position in the order of the launch domain
  detail::ContextSource* source = nullptr;

  /// The context for launching child tasks.
  [[nodiscard]] Context& context() const { return source->context(); }
  /// In a body for ProcessorKind::gang: calls f(begin, end) for pieces of [0, count), on several cores.
  void parallel_for(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& f,
                    std::int64_t grain = 1) const {
    source->parallel_for(count, grain, f);
  }
  /// Argument i as an accessor: `frame.get<Read<double>>(0)`. The requirement must fit the accessor,
  /// which is looked at where accesses are checked.
  template <class Accessor>
  [[nodiscard]] Accessor get(std::size_t i) const {
    if (i >= arguments.size()) [[unlikely]]
      detail::fail_argument(i, arguments.size());
    if (const detail::ArgumentInfo* info = arguments[i].info) [[unlikely]]
      detail::check_accessor(*info, Accessor::privilege,
                             value_type<typename Accessor::value_type>(), Accessor::dim);
    return Accessor{arguments[i]};
  }
};

/// One variant of a task: the body for one kind of processor.
struct TaskVariant {
  ProcessorKind kind = ProcessorKind::cpu;
  std::function<void(const TaskFrame&)> body;
  bool may_launch = true;  ///< whether the body may ask for its context; what does not costs less
  /// The body once more, if it is a mere function: given a TaskFrame. Null: there is only the other.
  void (*plain)(const void* frame) = nullptr;
};

/// What a task returns, for the run-time API: nothing when size is 0.
struct ResultType {
  std::size_t size = 0;
  std::size_t alignment = 1;
  void (*destroy)(void* value) = nullptr;  ///< null: trivially destructible
  /// How it is sent to other processes that run the program. Null: as its bytes, and where it has a destructor not at all.
  const ValuePacking* packing = nullptr;
};

namespace detail {
class TaskRecord;  ///< the registered task: name, slot, variants
}

/// A task known by its name and bodies. Registered when made, ended when destroyed (launches in flight
/// keep what they need). Tasks of one name get distinct slots in the order they are made.
class DynamicTask {
 public:
  DynamicTask(std::string name, std::function<void(const TaskFrame&)> body, ResultType result = {});
  DynamicTask(std::string name, std::vector<TaskVariant> variants, ResultType result = {});
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const std::shared_ptr<detail::TaskRecord>& record() const { return record_; }

 private:
  std::shared_ptr<detail::TaskRecord> record_;
};

/// One region argument of a launch.
struct Requirement {
  AnyRegion region;        ///< either this ...
  AnyPartition partition;  ///< ... or this (tree set) with a projection, in group launches
  AnyField field;
  Privilege privilege = Privilege::read;
  const ReductionOp* op = nullptr;  ///< for Privilege::reduce
  bool relaxed = false;             ///< Privilege::reduce: the order of folding is given up
  Projection projection;

  Requirement() = default;
  static Requirement of(const AnyRegion& region, const AnyField& field, Privilege privilege,
                        const ReductionOp* op = nullptr, bool relaxed = false) {
    return {region, {}, field, privilege, op, relaxed, {}};
  }
  static Requirement of(const AnyPartition& partition, const AnyField& field, Privilege privilege,
                        const ReductionOp* op = nullptr, Projection projection = {},
                        bool relaxed = false) {
    return {{}, partition, field, privilege, op, relaxed, std::move(projection)};
  }

 private:
  // Not an aggregate: compilers clear all of one before they set some of it, which takes as long as comparing
  // a launch with the recorded one.
  Requirement(const AnyRegion& r, const AnyPartition& pieces, const AnyField& f, Privilege p,
              const ReductionOp* o, bool gives_up_order, Projection which)
      : region(r),
        partition(pieces),
        field(f),
        privilege(p),
        op(o),
        relaxed(gives_up_order),
        projection(std::move(which)) {}
};

/// Advice that does not change results.
struct LaunchHints {
  int priority = 0;              ///< higher runs first among ready tasks
  bool inline_if_ready = false;  ///< small work: may run at once on the launching thread
};

/// Everything about one launch.
struct LaunchRequest {
  const detail::TaskRecord* task = nullptr;
  const LaunchDomain* domain = nullptr;  ///< null: a single launch
  std::span<const Requirement> requirements;
  void* values = nullptr;  ///< moved from
  const ValueOps* value_ops = nullptr;
  std::span<detail::FutureState* const> futures;  ///< AnyFuture::state() of those the task awaits
  LaunchHints hints;
  Where where;
  bool wants_future = false;  ///< the caller keeps the result

  LaunchRequest() = default;
  /// A single launch without arguments; the rest is for the caller to fill in. The task must live until
  /// the launch is made.
  explicit LaunchRequest(const DynamicTask& launched, Where at = Where::current())
      : task(launched.record().get()), where(at) {}
};

}  // namespace refrain
