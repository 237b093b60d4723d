#include "fusion/window.hpp"

#include <complex>
#include <cstring>

#include "shapes/views.hpp"

namespace refrain::arrays {

namespace {

// As seen by steps over `shape`; an axis of length 1 has stride 0, so that equal views have equal layouts.
Layout seen(Layout layout, const Shape& shape) {
  stretch(layout, shape);
  return layout;
}

}  // namespace

Constant constant_of(const Number& number, DType type) {
  Constant constant{};
  const auto put = [&](auto value) { std::memcpy(constant.bytes, &value, sizeof value); };
  const bool whole = number.kind == Kind::boolean || number.kind == Kind::integer;
  const double real = whole ? static_cast<double>(number.integer) : number.value.real();
  switch (type) {
    case DType::boolean: put(whole ? number.integer != 0 : number.value != 0.0); break;
    case DType::int32:
      put(static_cast<std::int32_t>(whole ? number.integer : static_cast<std::int64_t>(real)));
      break;
    case DType::int64: put(whole ? number.integer : static_cast<std::int64_t>(real)); break;
    case DType::float32: put(static_cast<float>(real)); break;
    case DType::float64: put(real); break;
    case DType::complex128: put(whole ? std::complex<double>(real) : number.value); break;
  }
  return constant;
}

bool Window::admits(const Shape& shape, std::span<const Operand* const> operands) const {
  if (steps_.empty()) return true;
  if (!(shape == shape_)) return false;
  // A step, and a cast of each operand.
  if (steps_.size() + 4 > kMostSteps || loads_.size() + operands.size() > kMostLoads) return false;
  for (const Operand* operand : operands) {
    if (operand->array() == nullptr) continue;
    const detail::Value& value = *operand->array()->value();
    if (value.pending && value.step >= 0 &&
        !(value.written == seen(operand->array()->layout(), shape)))
      return false;
  }
  return true;
}

bool Window::admits_write(const detail::Value& value, const Layout& layout) const {
  if (!value.pending) return true;
  const Layout target = seen(layout, shape_);
  if (value.step >= 0) return value.written == target;
  for (const Load& load : loads_)
    if (load.value == &value && !(load.layout == target)) return false;
  return true;
}

void Window::begin(const Shape& shape, const Where& where) {
  if (!steps_.empty()) return;
  shape_ = shape;
  where_ = where;
}

Source Window::source(const Operand& operand, DType type) {
  if (operand.array() == nullptr) return number(operand.number(), type);
  return cast(load(*operand.array()), operand.array()->dtype(), type);
}

Source Window::load(const Array& array) {
  detail::Value& value = *array.value();
  if (value.pending && value.step >= 0)
    return {Source::From::step, static_cast<std::uint16_t>(value.step)};
  const Layout layout = seen(array.layout(), shape_);
  for (std::size_t i = 0; i < loads_.size(); ++i)
    if (loads_[i].value == &value && loads_[i].layout == layout)
      return {Source::From::load, static_cast<std::uint16_t>(i)};
  hold(value);
  loads_.push_back({&value, array.dtype(), layout});
  return {Source::From::load, static_cast<std::uint16_t>(loads_.size() - 1)};
}

Source Window::number(const Number& number, DType type) {
  numbers_.push_back(constant_of(number, type));
  return {Source::From::number, static_cast<std::uint16_t>(numbers_.size() - 1)};
}

Source Window::cast(Source source, DType from, DType to) {
  if (from == to) return source;
  Step step;
  step.cast = true;
  step.type = from;
  step.result = to;
  step.operands[0] = source;
  return {Source::From::step, add(step)};
}

std::uint16_t Window::add(const Step& step) {
  steps_.push_back(step);
  return static_cast<std::uint16_t>(steps_.size() - 1);
}

void Window::write(detail::Value& value, const Layout& layout, std::uint16_t step) {
  hold(value);
  value.step = step;
  value.written = seen(layout, shape_);
}

void Window::hold(detail::Value& value) {
  if (value.pending) return;
  value.pending = true;
  values_.push_back(&value);
}

void Window::clear() {
  for (detail::Value* value : values_) {
    value->pending = false;
    value->step = -1;
  }
  steps_.clear();
  loads_.clear();
  numbers_.clear();
  values_.clear();
}

}  // namespace refrain::arrays
