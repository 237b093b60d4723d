#include "analysis/instance_store.hpp"

#include <algorithm>

#include "data/layout.hpp"

namespace refrain::analysis {

Memories::Memories(const Machine& machine) : machine_(machine) {
  for (const Memory& memory : machine.memories())
    pools_.push_back(std::make_unique<data::MemoryPool>(memory));
}

InstanceStore::InstanceStore(Memories& memories)
    : memories_(memories), live_(memories.machine().memories().size()) {}

InstanceStore::~InstanceStore() {
  // The context has drained its scope: nothing uses these bytes any more.
  for (const Retired& retired : retired_)
    if (!retired.bytes_are_back)
      memories_.pool(retired.instance->memory).release(retired.instance->bytes);
}

bool InstanceStore::reuses_at_once(MemoryId memory) const {
  return memories_.machine().memory(memory).kind == MemoryKind::framebuffer;
}

std::unique_ptr<Instance> InstanceStore::allocate(const data::IndexSpaceRef& space,
                                                  std::size_t value_size, MemoryId memory,
                                                  const Layout& layout) {
  collect_now_and_then();
  const data::InstanceLayout shape(*space, value_size, layout);
  void* bytes = memories_.pool(memory).allocate(shape.bytes, shape.alignment);
  if (bytes == nullptr) {
    collect();
    bytes = memories_.pool(memory).allocate(shape.bytes, shape.alignment);
    if (bytes == nullptr) return nullptr;
  }
  auto instance = std::make_unique<Instance>();
  instance->space = space;
  instance->memory = memory;
  instance->layout = layout;
  instance->bytes = bytes;
  instance->size = shape.bytes;
  instance->origin = static_cast<std::byte*>(bytes) + shape.offset;
  for (int d = 0; d < 3; ++d) instance->stride[d] = shape.stride[d];
  if (reuses_at_once(memory)) inherit_waits(*instance);
  adopt(*instance);
  return instance;
}

void InstanceStore::adopt(Instance& instance) {
  instance.live_index = live_[instance.memory].size();
  live_[instance.memory].push_back(&instance);
  ++alive_;
}

// The new instance comes after the operations that used any of its addresses before.
void InstanceStore::inherit_waits(Instance& instance) {
  const auto* begin = static_cast<const std::byte*>(instance.bytes);
  const auto* end = begin + instance.size;
  for (const Retired& old : retired_) {
    if (old.instance->memory != instance.memory || !old.bytes_are_back) continue;
    const auto* old_begin = static_cast<const std::byte*>(old.instance->bytes);
    if (old_begin < end && begin < old_begin + old.instance->size)
      instance.waits.insert(instance.waits.end(), old.users.begin(), old.users.end());
  }
}

void InstanceStore::retire(std::unique_ptr<Instance> instance, std::vector<exec::NodeRef> users) {
  auto& live = live_[instance->memory];
  live.back()->live_index = instance->live_index;
  live[instance->live_index] = live.back();
  live.pop_back();
  --alive_;
  users.insert(users.end(), instance->waits.begin(), instance->waits.end());
  const bool ours = instance->storage == Storage::pool;
  const bool at_once = ours && reuses_at_once(instance->memory);
  if (at_once) memories_.pool(instance->memory).release(instance->bytes);
  retired_.push_back({std::move(instance), std::move(users), at_once || !ours});
  collect_now_and_then();
}

void InstanceStore::collect() {
  std::erase_if(retired_, [&](Retired& retired) {
    while (!retired.users.empty() && exec::is_complete(retired.users.back())) retired.users.pop_back();
    if (!retired.users.empty()) return false;
    if (!retired.bytes_are_back)
      memories_.pool(retired.instance->memory).release(retired.instance->bytes);
    return true;
  });
  look_again_at_ = 2 * retired_.size() + 16;
}

const exec::NodeRef* InstanceStore::first_blocker(MemoryId memory) const {
  for (const Retired& retired : retired_)
    if (retired.instance->memory == memory && !retired.bytes_are_back && !retired.users.empty())
      return &retired.users.back();
  return nullptr;
}

}  // namespace refrain::analysis
