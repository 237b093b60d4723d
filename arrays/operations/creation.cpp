// Session: new arrays.

#include "refrain/arrays/session.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "operations/checks.hpp"
#include "operations/progression.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"
#include "storage/memory.hpp"

namespace refrain::arrays {

using namespace detail;

Session::Session(Context& context, const Settings& settings)
    : impl_(std::make_unique<SessionImpl>(context, settings)) {}

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

namespace {

Array filled(SessionImpl& session, const Shape& shape, const Operand& value, DType type) {
  check_shape(shape, value.where());
  check_fits(value.number(), type, value.where());
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

Array Session::zeros_like(const Array& other, Where where) {
  session_of(other, where);
  return zeros(other.shape(), other.dtype(), where);
}
Array Session::ones_like(const Array& other, Where where) {
  session_of(other, where);
  return ones(other.shape(), other.dtype(), where);
}
Array Session::empty_like(const Array& other, Where where) { return zeros_like(other, where); }
Array Session::full_like(const Array& other, const Operand& value) {
  session_of(other, value.where());
  return full(other.shape(), value, other.dtype());
}

// --- values by their position -----------------------------------------------------------------------------------

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
  Progression rule{DType::float64};
  Coord count = 0;
  if (whole) {
    const std::int64_t from = start.number().integer, to = stop.number().integer;
    const std::int64_t by = step.number().integer;
    if (by == 0) complain<ValueError>(where, "Maximum allowed size exceeded");
    rule.type = DType::int64;
    rule.whole_start = from;
    rule.whole_step = by;
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
    rule.start = as_double(start);
    const double by = as_double(step);
    const double length = std::ceil((as_double(stop) - rule.start) / by);
    if (std::isnan(length) || length > 1e18)
      complain<ValueError>(where, "Maximum allowed size exceeded");
    count = length > 0 ? static_cast<Coord>(length) : 0;
    // As NumPy does: from the first to the second, as they are rounded.
    rule.step = (rule.start + by) - rule.start;
    if (count > 1) {
      rule.last = 1;
      rule.last_value = rule.start + by;
    }
  }
  return progression(*impl_, count, rule, where);
}

Array Session::linspace(double start, double stop, Coord count, bool endpoint, Where where) {
  if (count < 0)
    complain<ValueError>(where,
                         "Number of samples, " + std::to_string(count) + ", must be non-negative.");
  Progression rule{DType::float64};
  rule.start = start;
  const Coord gaps = endpoint ? count - 1 : count;
  rule.step = gaps > 0 ? (stop - start) / static_cast<double>(gaps) : 0.0;
  if (endpoint && count > 1) {
    rule.last = count - 1;
    rule.last_value = stop;
  }
  return progression(*impl_, count, rule, where);
}

Array Session::eye(Coord n, std::optional<Coord> m, Coord k, DType type, Where where) {
  const Coord columns = m.value_or(n);
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
  const std::uint64_t ticket = with_memory_errors(where, [&] {
    return impl_->context.begin_access(storage.region(), storage.field(), Privilege::write,
                                       physical, where);
  });
  std::memcpy(element_zero(physical), values, storage.bytes());
  impl_->context.end_access(ticket);
  return result;
}

}  // namespace refrain::arrays
