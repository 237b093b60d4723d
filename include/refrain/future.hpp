#pragma once
// Futures: values that tasks return. A future is a counted reference to where the value will be; it may
// be copied, passed to later launches in place of a value, and waited for.
//
// Which waits are allowed: the program, and a task for futures that it launched itself or was given as
// arguments (those are there before the task starts, so reading them never waits). Anything else could
// wait for ever and is a UsageError.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "refrain/geometry.hpp"
#include "refrain/value_type.hpp"

namespace refrain {

namespace detail {

class FutureState;
void retain(FutureState* state) noexcept;
void release(FutureState* state) noexcept;
[[noreturn]] void fail_empty();
/// Waits until the value is there; throws the task's error if it failed. Returns the value's address.
const void* await(FutureState& state, const Where& where);
/// The value's address; the state must be complete (a task's future argument is when the task runs).
const void* ready_value(const FutureState& state) noexcept;
/// True once await would not block.
bool is_ready(const FutureState& state, const Where& where);
/// The value of one point of a group's futures, in the order of the launch domain.
const void* await_point(FutureState& state, std::size_t rank, const Where& where);
/// The same for a point, of `dim` dimensions; UsageError unless it is one of the launch domain.
const void* await_point(FutureState& state, const Point<3>& point, int dim, const Where& where);
/// Of coordinates in braces, the first three.
constexpr Point<3> point_of(std::initializer_list<Coord> coordinates) {
  Point<3> point{};
  int d = 0;
  for (const Coord coordinate : coordinates)
    if (d < 3) point[d++] = coordinate;
  return point;
}
std::size_t point_count(const FutureState& state) noexcept;

}  // namespace detail

/// A counted reference to the result of a launch with the type forgotten.
///
/// Where several processes run the program, asking for a value is a call that all of them make: one has the value, and
/// sends it to the others. UsageError, on all of them, for a value that nobody has asked for before the program's end.
class AnyFuture {
 public:
  AnyFuture() = default;
  explicit AnyFuture(detail::FutureState* adopted) noexcept : state_(adopted) {}
  AnyFuture(const AnyFuture& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) detail::retain(state_);
  }
  AnyFuture(AnyFuture&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  AnyFuture& operator=(AnyFuture other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~AnyFuture() {
    if (state_ != nullptr) detail::release(state_);
  }
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  /// Of several processes that run the program each may get another answer: then the run ends.
  [[nodiscard]] bool ready(Where where = Where::current()) const {
    return detail::is_ready(held(), where);
  }
  /// Waits for the launch; rethrows its failure.
  void wait(Where where = Where::current()) const { detail::await(held(), where); }
  /// How many values there are: one per point of a group launch, else one.
  [[nodiscard]] std::size_t points() const { return detail::point_count(held()); }
  /// Waits for the value at this position in the order of the launch domain; its bytes.
  [[nodiscard]] const void* value(std::size_t rank = 0, Where where = Where::current()) const {
    return detail::await_point(held(), rank, where);
  }
  /// The same for the point at these coordinates of a group launch; `dim` says how many count. UsageError for a
  /// point that the launch domain does not have.
  [[nodiscard]] const void* value_at(const Point<3>& point, int dim,
                                     Where where = Where::current()) const {
    return detail::await_point(held(), point, dim, where);
  }
  [[nodiscard]] detail::FutureState* state() const noexcept { return state_; }

 protected:
  /// UsageError for an empty future.
  [[nodiscard]] detail::FutureState& held() const {
    if (state_ == nullptr) [[unlikely]]
      detail::fail_empty();
    return *state_;
  }

 private:
  detail::FutureState* state_ = nullptr;
};

/// The value that a single launch (or a reduction of a group's values) returns.
template <class T>
class Future : public AnyFuture {
 public:
  using value_type = T;
  using AnyFuture::AnyFuture;
  /// The caller knows that the future holds T.
  explicit Future(AnyFuture future) noexcept : AnyFuture(std::move(future)) {}
  /// Waits for the value; rethrows the failure of the task that should have made it.
  [[nodiscard]] const T& get(Where where = Where::current()) const {
    return *static_cast<const T*>(detail::await(held(), where));
  }
};

/// The values that the points of a group launch return; reduce them with Context::reduce.
template <class T>
class FutureMap : public AnyFuture {
 public:
  using value_type = T;
  using AnyFuture::AnyFuture;
  /// The caller knows that the future holds T.
  explicit FutureMap(AnyFuture future) noexcept : AnyFuture(std::move(future)) {}
  [[nodiscard]] std::size_t size() const { return points(); }
  /// The value of the point at this position in the order of the launch domain; waits for it.
  [[nodiscard]] const T& get(std::size_t rank, Where where = Where::current()) const {
    return *static_cast<const T*>(value(rank, where));
  }
  /// The value of this point of the launch domain; waits for it. UsageError for a point that the domain does not
  /// have. `get(3)` is the value at position 3, `get(Point1{3})` that of point 3.
  template <int N>
  [[nodiscard]] const T& get(const Point<N>& point, Where where = Where::current()) const {
    return *static_cast<const T*>(value_at(detail::erase_dimension(point), N, where));
  }
  /// The same for a point written in braces: `get({1, 0})`. `get({3})` is the value of point 3, not that at position 3.
  [[nodiscard]] const T& get(std::initializer_list<Coord> point,
                             Where where = Where::current()) const {
    return *static_cast<const T*>(
        value_at(detail::point_of(point), static_cast<int>(point.size()), where));
  }
};

}  // namespace refrain
