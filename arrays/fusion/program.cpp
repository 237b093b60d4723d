#include "fusion/program.hpp"

#include <algorithm>
#include <memory>

namespace refrain::arrays::detail {

namespace {

// Rows at least this long are worth being blocks of their own; shorter ones are brought together.
constexpr Coord kLongRow = 64;
// A block's buffers stay within the first-level cache.
constexpr std::size_t kBufferBytes = 24 * 1024;
constexpr Coord kLeastBlock = 256, kMostBlock = 1024;
constexpr std::size_t kGrain = 256;  // what reductions take together

/// Memory of the calling thread for a program's buffers.
std::byte* scratch(std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  struct Memory {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };
  thread_local Memory memory;
  if (memory.size < bytes + kLine) {
    memory.bytes = std::make_unique<std::byte[]>(bytes + kLine);
    memory.size = bytes + kLine;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory.bytes.get());
  return memory.bytes.get() + (kLine - address % kLine) % kLine;
}

}  // namespace

Program::Program(ProgramText text)
    : text_(std::move(text)), by_rows_(text_.nest.length[2] >= kLongRow) {
  choose_ways();
  choose_places();
  make_commands();
  block_ = kMostBlock;
  if (buffers_ > 0) {
    const std::size_t fits = kBufferBytes / (buffers_ * 8) / kGrain * kGrain;
    block_ = std::clamp(static_cast<Coord>(fits), kLeastBlock, kMostBlock);
  }
  std::size_t widest = 1;
  for (const Step& step : text_.steps) widest = std::max(widest, size_of(step.result));
  for (const Access& load : text_.loads) widest = std::max(widest, size_of(load.type));
  buffer_bytes_ = static_cast<std::size_t>(block_) * widest;
}

Program::Way Program::way_of(const Strides& strides) const {
  const Coord* length = text_.nest.length;
  const Coord* stride = strides.stride;
  if (by_rows_) {
    if (stride[2] == 1) return Way::direct;
    return stride[2] == 0 ? Way::uniform : Way::strided;
  }
  const bool uniform = stride[0] == 0 && stride[1] == 0 && stride[2] == 0;
  if (uniform) return Way::uniform;
  const bool dense = (length[2] == 1 || stride[2] == 1) &&
                     (length[1] == 1 || stride[1] == length[2]) &&
                     (length[0] == 1 || stride[0] == length[1] * length[2]);
  return dense ? Way::direct : Way::strided;
}

void Program::choose_ways() {
  for (const Access& load : text_.loads) load_ways_.push_back(way_of(load.strides));
  // A nest of one element is uniform in all it reads; what it writes is written as it is.
  for (const Access& store : text_.stores) {
    const Way way = way_of(store.strides);
    store_ways_.push_back(way == Way::uniform ? Way::strided : way);
  }
  for (const Step& step : text_.steps) {
    bool uniform = true;
    for (const Source& source : step.operands) uniform = uniform && is_uniform(source);
    uniform_.push_back(uniform);
  }
}

// Is it one element for a whole block?
bool Program::is_uniform(const Source& source) const {
  if (source.from == Source::From::step) return uniform_[source.index];
  if (source.from == Source::From::load) return load_ways_[source.index] == Way::uniform;
  return true;
}

Program::Operand Program::operand_of(const Source& source) const {
  switch (source.from) {
    case Source::From::nothing: break;
    case Source::From::constant: return {Operand::Is::constant, source.index};
    case Source::From::step: return result_of_[source.index];
    case Source::From::load:
      if (load_ways_[source.index] == Way::strided)
        return {Operand::Is::buffer, load_buffer_[source.index]};
      return {Operand::Is::load, source.index};
  }
  return {};
}

/// After which step the result of each step, and each load, is not needed any more; the number of steps: never.
struct Program::LastUses {
  std::vector<std::size_t> step, load;

  explicit LastUses(const ProgramText& text)
      : step(text.steps.size(), 0), load(text.loads.size(), 0) {
    for (std::size_t s = 0; s < text.steps.size(); ++s)
      for (const Source& source : text.steps[s].operands) use(source, s);
    use(text.sink, text.steps.size());
  }

 private:
  void use(const Source& source, std::size_t at) {
    if (source.from == Source::From::step) step[source.index] = at;
    if (source.from == Source::From::load) load[source.index] = at;
  }
};

// Where the result of each step goes: straight to its store where that is dense and nothing is read there later,
// else to a buffer, which is free again after its last use.
void Program::choose_places() {
  LastUses uses(text_);
  std::vector<bool> delivered(text_.stores.size(), false);
  result_of_.resize(text_.steps.size());
  place_in_stores(uses, delivered);
  place_in_buffers(uses);
  for (std::size_t n = 0; n < text_.stores.size(); ++n) {
    const std::uint16_t step = text_.stores[n].step;
    if (!delivered[n])
      deliveries_.push_back({static_cast<std::uint16_t>(n), result_of_[step], uniform_[step]});
  }
}

void Program::place_in_stores(LastUses& uses, std::vector<bool>& delivered) {
  for (std::size_t n = 0; n < text_.stores.size(); ++n) {
    const Access& store = text_.stores[n];
    bool direct = store_ways_[n] == Way::direct && !uniform_[store.step] &&
                  result_of_[store.step].is == Operand::Is::nothing;
    for (std::size_t l = 0; l < text_.loads.size(); ++l)
      direct = direct && !(text_.loads[l].slot == store.slot && uses.load[l] > store.step);
    if (direct) result_of_[store.step] = {Operand::Is::store, static_cast<std::uint16_t>(n)};
    else uses.step[store.step] = text_.steps.size();  // delivered at the end
    delivered[n] = direct;
  }
}

void Program::place_in_buffers(const LastUses& uses) {
  std::vector<std::uint16_t> free, free_after;
  const auto take = [&] {
    if (free.empty()) return static_cast<std::uint16_t>(buffers_++);
    const std::uint16_t buffer = free.back();
    free.pop_back();
    return buffer;
  };
  // Strided loads are brought together before the first step.
  load_buffer_.resize(text_.loads.size());
  for (std::size_t l = 0; l < text_.loads.size(); ++l)
    if (load_ways_[l] == Way::strided) load_buffer_[l] = take();
  for (std::size_t s = 0; s < text_.steps.size(); ++s) {
    // An operand's buffer may be the result's where elements have the same size: loops allow that.
    const Step& step = text_.steps[s];
    const auto give_back = [&](std::uint16_t buffer, DType type) {
      (size_of(type) == size_of(step.result) ? free : free_after).push_back(buffer);
    };
    for (std::size_t o = 0; o < 3; ++o) {
      const Source& source = step.operands[o];
      if (std::find(step.operands, step.operands + o, source) != step.operands + o) continue;
      if (source.from == Source::From::step && uses.step[source.index] == s &&
          result_of_[source.index].is == Operand::Is::buffer)
        give_back(result_of_[source.index].index, text_.steps[source.index].result);
      if (source.from == Source::From::load && uses.load[source.index] == s &&
          load_ways_[source.index] == Way::strided)
        give_back(load_buffer_[source.index], text_.loads[source.index].type);
    }
    if (result_of_[s].is == Operand::Is::nothing) result_of_[s] = {Operand::Is::buffer, take()};
    free.insert(free.end(), free_after.begin(), free_after.end());
    free_after.clear();
  }
}

void Program::make_commands() {
  for (std::size_t s = 0; s < text_.steps.size(); ++s) {
    const Step& step = text_.steps[s];
    Command command{};
    command.uniform = uniform_[s];
    command.result = result_of_[s];
    unsigned scalars = 0;
    for (unsigned o = 0; o < 3; ++o) {
      const Source& source = step.operands[o];
      command.operands[o] = operand_of(source);
      if (source.from != Source::From::nothing && is_uniform(source)) scalars |= 1u << o;
    }
    // All operands are one value: so is the result, by the loop without scalars over one element.
    if (command.uniform) scalars = 0;
    command.loop = step.cast ? kernels::find_cast(step.type, step.result)
                             : kernels::find_loop(step.op, step.type, scalars);
    commands_.push_back(command);
  }
  sink_ = operand_of(text_.sink);
  sink_uniform_ = is_uniform(text_.sink);
  if (text_.sink.from == Source::From::step)
    sink_size_ = size_of(text_.steps[text_.sink.index].result);
  if (text_.sink.from == Source::From::load)
    sink_size_ = size_of(text_.loads[text_.sink.index].type);
}

/// A block of a run: where its operands are.
struct Program::Block {
  Coord first;         // element of the nest
  std::size_t count;   // elements
  Coord at[kMaxDims];  // the coordinates of the first
  std::byte* const* slots;
  const std::byte* constants;
  std::byte* buffers;
  std::size_t buffer_bytes;

  [[nodiscard]] std::byte* address(const Access& access) const {
    const Strides& strides = access.strides;
    const Coord position = strides.offset + at[0] * strides.stride[0] + at[1] * strides.stride[1] +
                           at[2] * strides.stride[2];
    return slots[access.slot] + position * static_cast<Coord>(size_of(access.type));
  }
  [[nodiscard]] std::byte* buffer(std::uint16_t number) const {
    return buffers + number * buffer_bytes;
  }
};

void Program::run_block(Block& block, BlockSink* sink) const {
  for (std::size_t l = 0; l < text_.loads.size(); ++l) {
    if (load_ways_[l] != Way::strided) continue;
    const Access& load = text_.loads[l];
    gather_block(text_.nest, load.strides, block.first, block.count, size_of(load.type),
                 block.slots[load.slot], block.buffer(load_buffer_[l]));
  }
  const auto address = [&](const Operand& operand) -> std::byte* {
    switch (operand.is) {
      case Operand::Is::nothing: break;
      case Operand::Is::load: return block.address(text_.loads[operand.index]);
      case Operand::Is::store: return block.address(text_.stores[operand.index]);
      case Operand::Is::buffer: return block.buffer(operand.index);
      case Operand::Is::constant:
        return const_cast<std::byte*>(block.constants) + operand.index * sizeof(Constant);
    }
    return nullptr;
  };
  for (const Command& command : commands_)
    command.loop(command.uniform ? 1 : block.count, address(command.result),
                 address(command.operands[0]), address(command.operands[1]),
                 address(command.operands[2]));
  // One element as a block of it: in a buffer of its own, since others may use that one.
  const auto spread_out = [&](std::size_t size, const std::byte* element) {
    std::byte* all = block.buffers + buffers_ * block.buffer_bytes;
    spread_block(block.count, size, element, all);
    return all;
  };
  if (sink != nullptr) {
    const std::byte* elements = address(sink_);
    if (sink_uniform_ && block.count > 1) elements = spread_out(sink_size_, elements);
    sink->take(block.first, block.count, elements);
  }
  for (const Delivery& delivery : deliveries_) {
    const Access& store = text_.stores[delivery.store];
    const std::size_t size = size_of(store.type);
    const std::byte* from = address(delivery.from);
    if (delivery.uniform && block.count > 1) {
      if (store_ways_[delivery.store] == Way::direct) {
        spread_block(block.count, size, from, block.address(store));
        continue;
      }
      from = spread_out(size, from);
    }
    scatter_block(text_.nest, store.strides, block.first, block.count, size, from,
                  block.slots[store.slot]);
  }
}

void Program::run(Coord begin, Coord end, std::byte* const* slots, const Constant* constants,
                  BlockSink* sink) const {
  const Coord* length = text_.nest.length;
  Block block{};
  block.slots = slots;
  block.constants = reinterpret_cast<const std::byte*>(constants);
  block.buffer_bytes = buffer_bytes_;
  block.buffers = scratch((buffers_ + 1) * buffer_bytes_);
  for (Coord first = begin; first < end;) {
    block.first = first;
    block.at[2] = first % length[2];
    const Coord outer = first / length[2];
    block.at[1] = outer % length[1];
    block.at[0] = outer / length[1];
    Coord count = std::min(block_, end - first);
    if (by_rows_) count = std::min(count, length[2] - block.at[2]);
    block.count = static_cast<std::size_t>(count);
    run_block(block, sink);
    first += count;
  }
}

}  // namespace refrain::arrays::detail
