// Session: new arrays.

#include "refrain/arrays/session.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "operations/dense.hpp"
#include "shapes/complain.hpp"

namespace refrain::arrays {

Session::Session(Context& context, const Settings& settings)
    : impl_(std::make_unique<detail::SessionImpl>(context, settings)) {}

Session::~Session() = default;

void Session::flush() { impl_->flush(); }

void Session::wait() {
  impl_->flush();
  impl_->context.fence();
}

Context& Session::context() const { return impl_->context; }

SessionCounters Session::counters() const {
  const Pool& pool = impl_->pool;
  return {impl_->operations,  impl_->fuser().launches(), pool.made(),      pool.reused(),
          pool.bytes_alive(), pool.bytes_pooled(),       pool.bytes_most()};
}

void check_shape(const Shape& shape, const Where& where) {
  for (const Coord length : shape)
    if (length < 0) complain<ValueError>(where, "negative dimensions are not allowed");
  // As many bytes of the widest type as an address can count.
  Coord room = Coord{1} << 58;
  for (const Coord length : shape) {
    if (length == 0) return;
    if (length > room)
      complain<ValueError>(where, "array is too big; its shape is " + to_string(shape));
    room /= length;
  }
}

namespace {

Array filled(detail::SessionImpl& session, const Shape& shape, const Operand& value, DType type) {
  check_shape(shape, value.where());
  return session.cast(value, type, shape);
}

}  // namespace

Array Session::zeros(const Shape& shape, DType type, Where where) {
  return filled(*impl_, shape, Operand(0, where), type);
}
Array Session::empty(const Shape& shape, DType type, Where where) {
  return filled(*impl_, shape, Operand(0, where), type);
}
Array Session::ones(const Shape& shape, DType type, Where where) {
  return filled(*impl_, shape, Operand(1, where), type);
}
Array Session::full(const Shape& shape, const Operand& value) {
  if (value.array() != nullptr) return full(shape, value, value.array()->dtype());
  return filled(*impl_, shape, value, default_type(value.number().kind));
}
Array Session::full(const Shape& shape, const Operand& value, DType type) {
  if (value.array() == nullptr) return filled(*impl_, shape, value, type);
  check_shape(shape, value.where());
  Array result = impl_->make_array(shape, type, value.where());
  result.fill(value);
  return result;
}

// --- values by their position -----------------------------------------------------------------------------------

namespace {

/// Element i: start + i step, but the last one, where it is given exactly.
struct Progression {
  DType type;
  double start, step;
  std::int64_t whole_start, whole_step;
  Coord last = -1;
  double last_value = 0;
  std::vector<Coord> begin;  // of each point
};

void run_progression(const TaskFrame& frame) {
  const auto& call = *static_cast<const Progression*>(frame.values);
  std::byte* zero = element_zero(frame, 0);
  for (Coord i = call.begin[frame.rank]; i < call.begin[frame.rank + 1]; ++i) {
    if (call.type == DType::int64) {
      const auto value =
          static_cast<std::uint64_t>(call.whole_start) +
          static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(call.whole_step);
      reinterpret_cast<std::int64_t*>(zero)[i] = static_cast<std::int64_t>(value);
    } else {
      reinterpret_cast<double*>(zero)[i] =
          i == call.last ? call.last_value : call.start + static_cast<double>(i) * call.step;
    }
  }
}

const DynamicTask progression_task = plain_task("progression", run_progression);

Array progression(detail::SessionImpl& session, Coord count, Progression call, const Where& where) {
  check_shape(Shape(count), where);
  Array result = session.make_stored(Shape(count), call.type, where);
  if (count == 0) return result;
  Storage& storage = *result.value()->storage;
  const Tiling& tiling = storage.tiling();
  call.begin = tiling.begin;
  launch(session, progression_task, tiling.tiles(),
         {{&storage, Privilege::write, tiles_of(session, tiling)}}, std::move(call),
         tiling.tiles() == 1, where);
  return result;
}

}  // namespace

Array positions_up_to(detail::SessionImpl& session, Coord count, const Where& where) {
  Progression call{};
  call.type = DType::int64;
  call.whole_step = 1;
  return progression(session, count, std::move(call), where);
}

namespace {

double as_double(const Operand& value) {
  const Number& number = value.number();
  return number.kind <= Kind::integer ? static_cast<double>(number.integer) : number.value.real();
}

}  // namespace

Array Session::arange(const Operand& stop) { return arange(Operand(0, stop.where()), stop); }

Array Session::arange(const Operand& start, const Operand& stop, const Operand& step) {
  const Where& where = start.where();
  bool whole = true;
  for (const Operand* bound : {&start, &stop, &step}) {
    if (bound->array() != nullptr || bound->number().kind == Kind::complex)
      complain<TypeError>(bound->where(), "the bounds of arange have to be real numbers");
    whole = whole && bound->number().kind <= Kind::integer;
  }
  Progression call{};
  Coord count = 0;
  if (whole) {
    const std::int64_t from = start.number().integer, to = stop.number().integer;
    const std::int64_t by = step.number().integer;
    if (by == 0) complain<ValueError>(where, "Maximum allowed size exceeded");
    call.type = DType::int64;
    call.whole_start = from;
    call.whole_step = by;
    if (by > 0 ? from < to : from > to) {
      // As unsigned numbers the distance always fits.
      const std::uint64_t distance =
          by > 0 ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from)
                 : static_cast<std::uint64_t>(from) - static_cast<std::uint64_t>(to);
      const std::uint64_t stride = by > 0 ? static_cast<std::uint64_t>(by)
                                          : std::uint64_t{0} - static_cast<std::uint64_t>(by);
      count = static_cast<Coord>((distance - 1) / stride + 1);
    }
  } else {
    call.type = DType::float64;
    call.start = as_double(start);
    const double by = as_double(step);
    const double length = std::ceil((as_double(stop) - call.start) / by);
    if (std::isnan(length) || length > 1e18)
      complain<ValueError>(where, "Maximum allowed size exceeded");
    count = length > 0 ? static_cast<Coord>(length) : 0;
    // As NumPy does: from the first to the second, as they are rounded.
    call.step = (call.start + by) - call.start;
    call.last = -1;
    if (count > 1) {
      call.last = 1;
      call.last_value = call.start + by;
    }
  }
  return progression(*impl_, count, std::move(call), where);
}

Array Session::linspace(double start, double stop, Coord count, bool endpoint, Where where) {
  if (count < 0)
    complain<ValueError>(where,
                         "Number of samples, " + std::to_string(count) + ", must be non-negative.");
  Progression call{};
  call.type = DType::float64;
  call.start = start;
  const Coord gaps = endpoint ? count - 1 : count;
  call.step = gaps > 0 ? (stop - start) / static_cast<double>(gaps) : 0.0;
  if (endpoint && count > 1) {
    call.last = count - 1;
    call.last_value = stop;
  }
  return progression(*impl_, count, std::move(call), where);
}

Array Session::eye(Coord n, Coord m, Coord k, DType type, Where where) {
  const Coord columns = m < 0 ? n : m;
  check_shape({n, columns}, where);
  k = std::clamp(k, -n, columns);  // no diagonal is further out
  Array result = zeros({n, columns}, type, where);
  const Coord row = k < 0 ? -k : 0, column = k < 0 ? 0 : k;
  const Coord length = std::min(n - row, columns - column);
  if (length <= 0) return result;
  Layout diagonal;
  diagonal.shape = Shape(length);
  diagonal.offset = row * columns + column;
  diagonal.stride[0] = columns + 1;
  impl_->assign(Array(*result.value(), type, diagonal), Operand(1, where));
  return result;
}

Array Session::from_memory(const void* values, std::size_t count, DType type, const Shape& shape,
                           Where where) {
  check_shape(shape, where);
  if (static_cast<Coord>(count) != shape.size())
    complain<ValueError>(where, "cannot reshape array of size " + std::to_string(count) +
                                    " into shape " + to_string(shape));
  Array result = impl_->make_stored(shape, type, where);
  if (count == 0) return result;
  Storage& storage = *result.value()->storage;
  PhysicalArgument physical;
  const std::uint64_t ticket = impl_->context.begin_access(storage.region(), storage.field(),
                                                           Privilege::write, physical, where);
  std::memcpy(element_zero(physical), values, storage.bytes());
  impl_->context.end_access(ticket);
  return result;
}

}  // namespace refrain::arrays
