#include "session_impl.hpp"

#include <algorithm>
#include <cstdio>

#include "fusion/reduction_task.hpp"
#include "operations/launching.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays::detail {

namespace {

// What is launched depends on these two things of a machine. Shards have to agree on them: they are those of the
// machine that the program as a whole runs on.

int cores_of(const Machine& machine) {
  return std::max<int>(1, static_cast<int>(machine.processors(ProcessorKind::cpu).size()));
}

/// Bytes of all memories that tasks on cores have their data in.
std::size_t room_of(const Machine& machine) {
  std::size_t bytes = 0;
  for (const MemoryId id : machine.memories(MemoryKind::system))
    bytes += machine.memory(id).capacity;
  return bytes;
}

constexpr Coord kChunkTerms = static_cast<Coord>(kernels::kChunk);

/// As NumPy says it: "7.45 GiB".
std::string readable(std::size_t bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double amount = static_cast<double>(bytes);
  int unit = 0;
  for (; amount >= 1024 && unit < 6; ++unit) amount /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || amount >= 100 ? "%.0f %s" : "%.2f %s", amount,
                units[unit]);
  return text;
}

Shape shape_of(std::span<const Operand* const> operands, const Where& where) {
  Shape shapes[3];
  std::size_t arrays = 0;
  for (const Operand* operand : operands)
    if (operand->array() != nullptr) shapes[arrays++] = operand->array()->shape();
  return arrays == 1 ? shapes[0] : broadcast({shapes, arrays}, where);
}

}  // namespace

void retain(Value& value) noexcept { ++value.handles; }

void release(Value& value) noexcept {
  if (--value.handles > 0) return;
  if (value.session != nullptr) value.session->drop(value);
  else delete &value;
}

SessionImpl& session_of(const Array& array, const Where& where) {
  if (array.value() == nullptr) complain<ArrayError>(where, "the array is an empty handle");
  SessionImpl* session = array.value()->session;
  if (session == nullptr) complain<ArrayError>(where, "the array's session has ended");
  if (array.value()->lost) [[unlikely]]
    complain<ArrayError>(where,
                         "the array's elements were not computed: " + session->why_not_computed());
  return *session;
}

SessionImpl& session_of(std::span<const Operand* const> operands) {
  SessionImpl* session = nullptr;
  for (const Operand* operand : operands) {
    if (operand->array() == nullptr) continue;
    SessionImpl& one = session_of(*operand->array(), operand->where());
    if (session != nullptr && session != &one)
      complain<ArrayError>(operand->where(), "the operands belong to different sessions");
    session = &one;
  }
  if (session == nullptr)
    complain<TypeError>(operands[0]->where(), "one operand at least has to be an array");
  return *session;
}

SessionImpl::SessionImpl(Context& ctx, const Settings& chosen)
    : context(ctx),
      settings(chosen),
      tilings(cores_of(ctx.machine()), chosen.tile),
      room(room_of(ctx.machine())),
      pool(ctx, room),
      fuser_(ctx, pool, ranges) {}

SessionImpl::~SessionImpl() {
  for (Value* value = first_; value != nullptr;) {
    Value* next = value->next;
    value->session = nullptr;
    value->storage = nullptr;
    if (value->handles == 0) delete value;  // the window held it
    value = next;
  }
}

// Decided by sizes alone: whether there is room does not depend on when storage is freed.
Array SessionImpl::make_array(const Shape& shape, DType type, const Where& where) {
  check_shape(shape, where);
  if (pool.must_wait()) context.fence(where);
  const std::size_t bytes = static_cast<std::size_t>(shape.size()) * size_of(type);
  if (temporaries_ == 0) make_room(bytes);
  return new_array(shape, type, where, temporaries_ == 0);
}

Array SessionImpl::new_array(const Shape& shape, DType type, const Where& where, bool promised) {
  const std::size_t bytes = static_cast<std::size_t>(shape.size()) * size_of(type);
  if (promised && !pool.promise(bytes)) complain_of_room(shape, type, where);
  auto* value = new Value;
  value->session = this;
  value->type = type;
  value->promised = promised;
  if (bytes > 0) value->tiling = tilings.of(shape);
  value->next = first_;
  if (first_ != nullptr) first_->previous = value;
  first_ = value;
  return Array(*value, type, Layout::contiguous(shape));
}

void SessionImpl::make_room(std::size_t bytes) {
  if (bytes > room - std::min(room, pool.bytes_alive() + pool.bytes_promised())) flush();
}

void SessionImpl::complain_of_room(const Shape& shape, DType type, const Where& where) const {
  const std::size_t bytes = static_cast<std::size_t>(shape.size()) * size_of(type);
  complain<MemoryError>(
      where, "Unable to allocate " + readable(bytes) + " for an array with shape " +
                 to_string(shape) + " and data type " + std::string(name_of(type)) +
                 ": other arrays use " + readable(pool.bytes_alive() + pool.bytes_promised()) +
                 " of " + readable(room));
}

void SessionImpl::promise_temporaries() {
  const Window& window = fuser_.window;
  for (const Window::Write& write : window.writes()) {
    Value& value = *write.value;
    if (value.handles == 0 || value.storage != nullptr || value.promised) continue;
    if (!pool.promise(value.bytes())) complain_of_room(window.shape(), value.type, window.line());
    value.promised = true;
  }
}

Array SessionImpl::make_stored(const Shape& shape, DType type, const Where& where) {
  Array array = make_array(shape, type, where);
  if (shape.size() > 0) store(*array.value(), pool, where);
  return array;
}

void SessionImpl::drop(Value& value) noexcept {
  if (!value.pending) end(value);
}

void SessionImpl::end(Value& value) noexcept {
  if (value.storage != nullptr) pool.give_back(*value.storage);
  else if (value.promised) pool.forgo(value.bytes());
  if (value.next != nullptr) value.next->previous = value.previous;
  (value.previous != nullptr ? value.previous->next : first_) = value.next;
  delete &value;
}

Storage& SessionImpl::stored(Value& value) {
  if (value.written) flush();
  return *value.storage;
}

Storage& SessionImpl::changeable(Value& value) {
  if (value.pending) flush();
  return *value.storage;
}

void SessionImpl::flush() {
  promise_temporaries();
  launch_pending([this](auto& dead) { fuser_.flush(dead); });
}

void SessionImpl::flush_stores() {
  launch_pending([this](auto& dead) { fuser_.flush_stores(dead); });
}

template <class Launch>
void SessionImpl::launch_pending(Launch&& launch_by) {
  const auto dead = [this](Value& value) { end(value); };
  try {
    launch_by(dead);
  } catch (const Error& error) {
    // What was pending is lost, and whoever asks for it is told why.
    not_computed_ = error.what();
    const Where where = fuser_.window.where();
    fuser_.abandon(dead);
    if (dynamic_cast<const OutOfMemory*>(&error) != nullptr)
      complain<MemoryError>(where, not_computed_);
    throw;
  }
}

void SessionImpl::after_step() {
  ++operations;
  if (!settings.fusion) flush();
}

Array SessionImpl::compute(kernels::Op op, DType type, std::span<const Operand* const> operands,
                           const Where& where) {
  const Shape shape = shape_of(operands, where);
  Array result = make_array(shape, kernels::result_of(op, type), where);
  if (shape.size() == 0) return result;
  if (!fuser_.window.admits(shape, operands)) flush();
  Window& window = fuser_.window;
  window.begin(shape, where);
  Step step;
  step.op = op;
  step.type = type;
  step.result = result.dtype();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool condition = op == kernels::Op::where && i == 0;
    step.operands[i] = window.source(*operands[i], condition ? DType::boolean : type);
  }
  window.write(*result.value(), result.layout(), window.add(step));
  after_step();
  return result;
}

Array SessionImpl::cast(const Operand& operand, DType type, const Shape& shape) {
  Array result = make_array(shape, type, operand.where());
  assign(result, operand);
  return result;
}

void SessionImpl::assign(const Array& view, const Operand& values) {
  if (view.size() == 0) return;
  Value& target = *view.value();
  const Array* from = values.array();
  if (from != nullptr && from->value() == &target && !(from->layout() == view.layout()) &&
      !Window::are_apart(target, from->layout(), view.layout())) {
    // What is written is also read elsewhere: read it all first.
    const Array copy = cast(values, from->dtype(), from->shape());
    flush();
    return assign(view, Operand(copy, values.where()));
  }
  Window& window = fuser_.window;
  if (!window.admits_assignment(view.shape(), values)) flush();
  // Earlier stores to the same array go first; what the values are computed from stays here, if it can.
  if (!window.empty() && !window.admits_write(target, view.layout())) {
    flush_stores();
    if (!window.admits_write(target, view.layout())) flush();
  }
  window.begin(view.shape(), values.where());
  const DType type = view.dtype();
  Step step;
  step.cast = true;
  step.type = from != nullptr ? from->dtype() : type;
  step.result = type;
  step.operands[0] = window.source(values, step.type);
  const bool computed = step.type == type && step.operands[0].from == Source::From::step;
  window.write(target, view.layout(), computed ? step.operands[0].index : window.add(step));
  after_step();
}

Source SessionImpl::terms_of(const Array& terms, DType type, const Where& where) {
  Window& window = fuser_.window;
  const Operand operand(terms, where);
  const Operand* operands[] = {&operand};
  const Value& value = *terms.value();
  if (!settings.fusion || !value.written || !window.admits(terms.shape(), operands)) flush();
  window.begin(terms.shape(), where);
  return window.source(operand, type);
}

Array SessionImpl::reduce(kernels::Reduce op, DType type, Array terms, unsigned axes,
                          const Shape& result, const Where& where) {
  ++operations;
  // Chunks of terms may have results of their own, values and positions.
  make_room(static_cast<std::size_t>(result.size() + terms.size() / kChunkTerms + 1) * 32);
  const Array outputs = make_stored(result, is_arg(op) ? DType::int64 : type, where);
  const Coord points = tilings.of(terms.shape())->tiles();
  ReductionText text{op, type, terms_of(terms, type, where), axes};
  std::shared_ptr<const Plan> plan = fuser_.plan_reduction(text, *terms.value(), points);
  if (plan == nullptr) {
    flush();
    text.terms = terms_of(terms, type, where);
    plan = fuser_.plan_reduction(text, *terms.value(), points);
  }
  const Reduction& reduction = *plan->reduction;
  Storage* stored[2] = {outputs.value()->storage};
  Array values, positions;
  std::size_t count = 1;
  // What is planned is what is in the window now: it is not launched to make room for these.
  const auto results_of_chunks = [&](DType of) {
    Array results = new_array(Shape(reduction.results()), of, where, true);
    store(*results.value(), pool, where);
    return results;
  };
  if (reduction.by_chunks) {
    values = results_of_chunks(type);
    stored[0] = values.value()->storage;
    if (is_arg(op)) {
      positions = results_of_chunks(DType::int64);
      stored[count++] = positions.value()->storage;
    }
  }
  terms = Array();
  promise_temporaries();
  launch_pending([&](auto& dead) { fuser_.reduce(plan, {stored, count}, dead); });
  if (!reduction.by_chunks) return outputs;

  std::vector<Use> uses{{outputs.value()->storage, Privilege::write}, {stored[0], Privilege::read}};
  if (is_arg(op)) uses.push_back({stored[1], Privilege::read});
  CombineCall call{op, type, reduction.outputs, reduction.chunks(), reduction.columns};
  launch(*this, combine_task(), 1, uses, call, 4 * reduction.results(), where);
  return outputs;
}

}  // namespace refrain::arrays::detail
