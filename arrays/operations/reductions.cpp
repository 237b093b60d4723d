// NumPy's reductions: axes, types, what there is of nothing.

#include "refrain/arrays/reductions.hpp"

#include <string>

#include "fusion/reduction_task.hpp"
#include "kernels/reduce.hpp"
#include "refrain/arrays/elements.hpp"
#include "session_impl.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

using namespace detail;
using kernels::Reduce;

namespace {

Shape without(const Shape& shape, unsigned axes, bool keep_dims) {
  Shape result;
  for (int d = 0; d < shape.dims(); ++d) {
    if ((axes >> d & 1) == 0) result.push_back(shape[d]);
    else if (keep_dims) result.push_back(1);
  }
  return result;
}

/// `a` is given up: where it is the last handle of a chain of operations, their result is never stored.
Array reduce(Reduce op, DType type, Array a, const Axes& axes, bool keep_dims, const char* name,
             const Where& where) {
  SessionImpl& session = session_of(a, where);
  const unsigned set = axis_set(axes, a.dims(), where);
  const Shape result = without(a.shape(), set, keep_dims);
  Coord terms = 1;
  for (int d = 0; d < a.dims(); ++d)
    if ((set >> d & 1) != 0) terms *= a.shape()[d];
  const bool has_identity = op != Reduce::min && op != Reduce::max && !is_arg(op);
  if (terms == 0 && is_arg(op))
    complain<ValueError>(where, std::string("attempt to get ") + name + " of an empty sequence");
  if (terms == 0 && !has_identity)
    complain<ValueError>(where, "zero-size array to reduction operation " + std::string(name) +
                                    " which has no identity");
  const DType result_type = is_arg(op) ? DType::int64 : type;
  if (result.size() == 0) return session.make_array(result, result_type, where);
  if (terms == 0) {
    const bool one = op == Reduce::prod || op == Reduce::all;
    return session.cast(Operand(one ? 1 : 0, where), type, result);
  }
  if (set == 0 && !is_arg(op)) return session.cast(Operand(a, where), type, result);
  if (set == 0) return session.cast(Operand(0, where), result_type, result);
  return session.reduce(op, type, std::move(a), set, result, where);
}

DType sum_type(DType type) { return kind_of(type) < Kind::floating ? DType::int64 : type; }

}  // namespace

Array sum(Array a, const Axes& axes, bool keep_dims, Where where) {
  const DType type = sum_type(a.dtype());
  return reduce(Reduce::sum, type, std::move(a), axes, keep_dims, "add", where);
}

Array prod(Array a, const Axes& axes, bool keep_dims, Where where) {
  const DType type = sum_type(a.dtype());
  return reduce(Reduce::prod, type, std::move(a), axes, keep_dims, "multiply", where);
}

Array mean(Array a, const Axes& axes, bool keep_dims, Where where) {
  const DType type = kind_of(a.dtype()) < Kind::floating ? DType::float64 : a.dtype();
  const Coord size = a.size();
  const Array total = reduce(Reduce::sum, type, std::move(a), axes, keep_dims, "add", where);
  const Coord outputs = total.size();
  const double count =
      outputs == 0 ? 1.0 : static_cast<double>(size) / static_cast<double>(outputs);
  return Operand(total, where) / Operand(count, where);
}

Array min(Array a, const Axes& axes, bool keep_dims, Where where) {
  const DType type = a.dtype();
  return reduce(Reduce::min, type, std::move(a), axes, keep_dims, "minimum", where);
}

Array max(Array a, const Axes& axes, bool keep_dims, Where where) {
  const DType type = a.dtype();
  return reduce(Reduce::max, type, std::move(a), axes, keep_dims, "maximum", where);
}

Array any(Array a, const Axes& axes, bool keep_dims, Where where) {
  return reduce(Reduce::any, DType::boolean, std::move(a), axes, keep_dims, "logical_or", where);
}

Array All::operator()(Array a, Where where) const {
  return reduce(Reduce::all, DType::boolean, std::move(a), {}, false, "logical_and", where);
}

Array All::operator()(Array a, const Axes& axes, bool keep_dims, Where where) const {
  return reduce(Reduce::all, DType::boolean, std::move(a), axes, keep_dims, "logical_and", where);
}

namespace {

Array position_of(Reduce op, Array a, const Axes& axis, bool keep_dims, const char* name,
                  const Where& where) {
  if (!axis.all() && axis.count() != 1)
    complain<TypeError>(where, std::string(name) + " is along one axis or along all");
  const DType type = a.dtype();
  return reduce(op, type, std::move(a), axis, keep_dims, name, where);
}

}  // namespace

Array argmin(Array a, const Axes& axis, bool keep_dims, Where where) {
  return position_of(Reduce::argmin, std::move(a), axis, keep_dims, "argmin", where);
}

Array argmax(Array a, const Axes& axis, bool keep_dims, Where where) {
  return position_of(Reduce::argmax, std::move(a), axis, keep_dims, "argmax", where);
}

}  // namespace refrain::arrays
