#include "fusion/window.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

#include "check.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays::detail {

namespace {

// As seen by steps over `shape`; an axis of length 1 has stride 0, so that equal views have equal layouts.
Layout seen(Layout layout, const Shape& shape) {
  stretch(layout, shape);
  return layout;
}

}  // namespace

Constant constant_of(const Number& number, DType type) {
  // The number in a type of its own, and then cast as elements are.
  Constant own{}, constant{};
  const auto put = [&](auto value, DType from) {
    std::memcpy(own.bytes, &value, sizeof value);
    kernels::find_cast(from, type)(1, constant.bytes, own.bytes, nullptr, nullptr);
  };
  switch (number.kind) {
    case Kind::boolean: put(number.integer != 0, DType::boolean); break;
    case Kind::integer: put(number.integer, DType::int64); break;
    case Kind::floating: put(number.value.real(), DType::float64); break;
    case Kind::complex: put(number.value, DType::complex128); break;
  }
  return constant;
}

// Views of an array that share no element, and lie in the same tiles: the tasks of a launch keep to their own.
bool Window::are_apart(const Value& value, const Layout& a, const Layout& b) {
  if (may_overlap(a, b)) return false;
  const Tiling& tiling = *value.tiling;
  if (tiling.tiles() == 1) return true;
  const Reach x = reach_of(a), y = reach_of(b);
  return tiling.tile_of(x.first) == tiling.tile_of(y.first) &&
         tiling.tile_of(x.last) == tiling.tile_of(y.last);
}

bool Window::may_join(const Shape& shape, std::span<const Operand* const> operands,
                      std::size_t steps, std::size_t writes) const {
  if (empty()) return true;
  if (!(shape == shape_)) return false;
  if (steps_.size() + steps > kMostSteps || writes_.size() + writes > kMostWrites) return false;
  std::size_t loads = loads_.size();
  for (const Operand* operand : operands) {
    if (operand->array() == nullptr) continue;
    const Value& value = *operand->array()->value();
    const Layout layout = seen(operand->array()->layout(), shape);
    if (find_write(value, layout) == nullptr) ++loads;
    if (!value.written) continue;
    for (const Write& write : writes_)
      if (write.value == &value && !(write.layout == layout) &&
          !are_apart(value, write.layout, layout))
        return false;
  }
  return loads <= kMostLoads;
}

bool Window::admits_write(const Value& value, const Layout& layout) const {
  if (!value.pending) return true;
  const Layout target = seen(layout, shape_);
  const auto meets = [&](const auto& access) {
    return access.value == &value && !(access.layout == target) &&
           !are_apart(value, access.layout, target);
  };
  return std::none_of(writes_.begin(), writes_.end(), meets) &&
         std::none_of(loads_.begin(), loads_.end(), meets);
}

void Window::begin(const Shape& shape, const Where& where) {
  REFRAIN_ARRAYS_CHECK(empty() || shape == shape_, "a window is of one shape");
  shape_ = shape;
  line_ = where;
}

Source Window::source(const Operand& operand, DType type) {
  if (operand.array() == nullptr) return constant(operand.number(), type);
  return cast(load(*operand.array()), operand.array()->dtype(), type);
}

Source Window::load(const Array& array) {
  Value& value = *array.value();
  const Layout layout = seen(array.layout(), shape_);
  if (const Write* write = find_write(value, layout)) return {Source::From::step, write->step};
  for (std::size_t i = 0; i < loads_.size(); ++i)
    if (loads_[i].value == &value && loads_[i].layout == layout)
      return {Source::From::load, static_cast<std::uint16_t>(i)};
  hold(value);
  ++revision_;
  loads_.push_back({&value, layout});
  return {Source::From::load, static_cast<std::uint16_t>(loads_.size() - 1)};
}

Source Window::constant(const Number& number, DType type) {
  ++revision_;
  constants_.push_back(constant_of(number, type));
  return {Source::From::constant, static_cast<std::uint16_t>(constants_.size() - 1)};
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
  ++revision_;
  steps_.push_back(step);
  lines_.push_back(line_);
  return static_cast<std::uint16_t>(steps_.size() - 1);
}

const Window::Write* Window::find_write(const Value& value, const Layout& layout) const {
  if (!value.written) return nullptr;
  for (const Write& write : writes_)
    if (write.value == &value && write.layout == layout) return &write;
  return nullptr;
}

void Window::write(Value& value, const Layout& layout, std::uint16_t step) {
  hold(value);
  ++revision_;
  const Layout target = seen(layout, shape_);
  value.written = true;
  for (Write& write : writes_)
    if (write.value == &value && write.layout == target) {
      write.step = step;
      return;
    }
  writes_.push_back({&value, target, step});
}

void Window::hold(Value& value) {
  if (value.pending) return;
  value.pending = true;
  values_.push_back(&value);
}

void Window::clear() {
  for (Value* value : values_) {
    value->pending = false;
    value->written = false;
  }
  ++revision_;
  steps_.clear();
  lines_.clear();
  loads_.clear();
  constants_.clear();
  writes_.clear();
  values_.clear();
}

// --- keeping new arrays for later -----------------------------------------------------------------------------

namespace {

bool is_result(const Window::Write& write) {
  return write.value->storage == nullptr && write.value->handles > 0;
}

}  // namespace

// What is kept is computed from what its loads will find then: nothing of that may be overwritten before.
bool Window::can_keep_results() {
  if (std::all_of(writes_.begin(), writes_.end(), is_result)) return false;
  kept_.clear(steps_.size(), loads_.size(), constants_.size());
  for (const Write& write : writes_)
    if (is_result(write)) kept_.add_step(write.step);
  kept_.complete(steps_);
  for (std::size_t l = 0; l < loads_.size(); ++l)
    if (kept_.has_load(l) && loads_[l].value->written) return false;
  return true;
}

void Window::keep_results(std::vector<Value*>& released) {
  ++revision_;
  const std::vector<Value*> before = std::exchange(values_, {});
  for (Value* value : before) value->pending = value->written = false;
  std::size_t kept = 0;
  for (std::size_t l = 0; l < loads_.size(); ++l) {
    if (!kept_.has_load(l)) continue;
    hold(*loads_[l].value);
    loads_[kept++] = loads_[l];
  }
  loads_.resize(kept);
  kept = 0;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    if (!kept_.has_step(s)) continue;
    Step step = steps_[s];
    for (Source& source : step.operands) source = kept_.moved(source);
    lines_[kept] = lines_[s];
    steps_[kept++] = step;
  }
  steps_.resize(kept);
  lines_.resize(kept);
  kept = 0;
  for (std::size_t c = 0; c < constants_.size(); ++c)
    if (kept_.has_constant(c)) constants_[kept++] = constants_[c];
  constants_.resize(kept);
  std::erase_if(writes_, [](const Write& write) { return !is_result(write); });
  for (Write& write : writes_) {
    hold(*write.value);
    write.value->written = true;
    write.step = kept_.step(write.step);
  }
  released.clear();
  for (Value* value : before)
    if (!value->pending) released.push_back(value);
}

}  // namespace refrain::arrays::detail
