// bincount.

#include <algorithm>
#include <string>

#include "operations/checks.hpp"
#include "operations/dense.hpp"
#include "operations/selection.hpp"
#include "refrain/arrays/arranging.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

using namespace detail;

namespace {

struct Extent {
  std::int64_t least, most;
};

struct CountCall {
  Coord positions, weights;  // where they begin in their storage
  Coord count, bins;
  bool weighted;
};

void run_extent(const TaskFrame& frame) {
  const auto& call = *static_cast<const CountCall*>(frame.values);
  const auto* positions =
      reinterpret_cast<const std::int64_t*>(element_zero(frame, 0)) + call.positions;
  const auto [least, most] = std::minmax_element(positions, positions + call.count);
  *static_cast<Extent*>(frame.result) = {*least, *most};
}

/// Arguments: the bins, the positions, the weights if there are some.
void run_bincount(const TaskFrame& frame) {
  const auto& call = *static_cast<const CountCall*>(frame.values);
  const auto* positions =
      reinterpret_cast<const std::int64_t*>(element_zero(frame, 1)) + call.positions;
  if (call.weighted) {
    auto* bins = reinterpret_cast<double*>(element_zero(frame, 0));
    const double* weights = reinterpret_cast<const double*>(element_zero(frame, 2)) + call.weights;
    std::fill_n(bins, call.bins, 0.0);
    for (Coord i = 0; i < call.count; ++i) bins[positions[i]] += weights[i];
  } else {
    auto* bins = reinterpret_cast<std::int64_t*>(element_zero(frame, 0));
    std::fill_n(bins, call.bins, 0);
    for (Coord i = 0; i < call.count; ++i) ++bins[positions[i]];
  }
}

const DynamicTask extent_task =
    plain_task<run_extent>("extent", {sizeof(Extent), alignof(Extent), nullptr});
const DynamicTask bincount_task = plain_task<run_bincount>("bincount");

Array count(const Array& a, const Array* weights, Coord min_length, const Where& where) {
  SessionImpl& session = session_of(a, where);
  if (a.dims() != 1)
    complain<ValueError>(where, a.dims() == 0 ? "object of too small depth for desired array"
                                              : "object too deep for desired array");
  if (kind_of(a.dtype()) > Kind::integer)
    complain<TypeError>(where, "Cannot cast array data from dtype('" +
                                   std::string(name_of(a.dtype())) +
                                   "') to dtype('int64') according to the rule 'safe'");
  if (min_length < 0) complain<ValueError>(where, "'minlength' must not be negative");
  if (weights != nullptr) check_session(session, *weights, where);
  if (weights != nullptr && !(weights->shape() == a.shape()))
    complain<ValueError>(where, "The weights and list don't have the same length.");
  if (weights != nullptr && weights->dtype() == DType::complex128)
    complain<TypeError>(where,
                        "Cannot cast array data from dtype('complex128') to "
                        "dtype('float64') according to the rule 'safe'");
  const Array positions = dense(a, DType::int64, where);
  CountCall call{positions.layout().offset, 0, a.size(), min_length, weights != nullptr};
  const Coord work = kPicking * a.size();
  if (a.size() > 0) {
    const Future<Extent> extent(
        launch(session, extent_task, 1, {reading(session, positions)}, call, work, where, true));
    if (extent.get().least < 0)
      complain<ValueError>(where, "'list' argument must have no negative elements");
    call.bins = std::max(call.bins, sum_of(extent.get().most, 1, where));
  }
  const DType type = weights != nullptr ? DType::float64 : DType::int64;
  const Shape bins(call.bins);
  check_shape(bins, where);
  if (a.size() == 0) return session.cast(Operand(0, where), type, bins);
  const Array result = session.make_stored(bins, type, where);
  Array given;
  std::vector<Use> uses{{result.value()->storage, Privilege::write}, reading(session, positions)};
  if (weights != nullptr) {
    given = dense(*weights, DType::float64, where);
    call.weights = given.layout().offset;
    uses.push_back(reading(session, given));
  }
  launch(session, bincount_task, 1, uses, call, work, where);
  return result;
}

}  // namespace

Array bincount(const Array& a, Coord min_length, Where where) {
  return count(a, nullptr, min_length, where);
}
Array bincount(const Array& a, const Array& weights, Coord min_length, Where where) {
  return count(a, &weights, min_length, where);
}

}  // namespace refrain::arrays
