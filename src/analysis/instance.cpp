#include "analysis/instance.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "data/layout.hpp"

namespace refrain::analysis {

Instance* InstanceSet::find(const data::IndexSpaceRef& points, MemoryId memory,
                            const Layout& layout) const {
  Instance *outside = nullptr, *first = nullptr;
  const auto fits = [&](const Instance& instance) {
    if (instance.layout.order != layout.order) return false;
    return layout.sparse == Sparse::by_density || instance.space->dense() ||
           (layout.sparse == Sparse::compact) == (instance.compact != nullptr);
  };
  const auto look_at = [&](Instance& instance) {
    if (instance.memory != memory || !data::contains(instance.space, points)) return;
    if (instance.storage != Storage::pool) outside = &instance;
    else if (fits(instance) && (!first || instance.number < first->number)) first = &instance;
  };
  constexpr std::size_t kFew = 4;  // sooner looked at than found in the index
  if (points->empty() || all_.size() <= kFew) {
    for (const auto& instance : all_) look_at(*instance);
  } else {
    const data::BoxPoint corner = points->boxes().front().lo;
    index_.find({corner, corner}, look_at);
  }
  return outside != nullptr ? outside : first;
}

namespace {

// Where an instance is found. Few sets have so many boxes, so few share bounds with others of them.
data::BoxSpan indexed_boxes(const data::IndexSpace& space) {
  constexpr std::size_t kMost = 4096;
  if (space.boxes().size() > kMost) return {&space.bounds(), 1};
  return space.boxes();
}

}  // namespace

Instance& InstanceSet::add(std::unique_ptr<Instance> instance) {
  instance->number = all_.empty() ? 0 : all_.back()->number + 1;
  for (const data::Box& box : indexed_boxes(*instance->space)) index_.insert(box, *instance);
  return *all_.emplace_back(std::move(instance));
}

std::unique_ptr<Instance> InstanceSet::remove(Instance& instance) {
  for (const data::Box& box : indexed_boxes(*instance.space)) index_.erase(box, instance);
  const auto it = std::ranges::lower_bound(all_, instance.number, {},
                                           [](const auto& each) { return each->number; });
  REFRAIN_ASSERT(it != all_.end() && it->get() == &instance,
                 "an instance belongs to the field that it is removed from");
  std::unique_ptr<Instance> removed = std::move(*it);
  all_.erase(it);
  return removed;
}

Memories::Memories(const Machine& machine, const memory::Mover& mover) : machine_(machine) {
  for (const Memory& memory : machine.memories())
    pools_.push_back(std::make_unique<memory::MemoryPool>(memory, mover));
}

InstanceStore::InstanceStore(Memories& memories)
    : memories_(memories), live_(memories.machine().memories().size()), by_use_(live_.size()) {}

InstanceStore::~InstanceStore() {
  // The context has drained its scope: nothing uses these bytes any more.
  for (const Retired& retired : retired_) settle(retired);
}

void InstanceStore::abandon() noexcept {
  for (MemoryId memory = 0; memory < live_.size(); ++memory)
    memories_.pool(memory).release_all(this);
  retired_.clear();
  by_use_.clear();
  live_.clear();
}

std::unique_ptr<Instance> InstanceStore::allocate(const data::IndexSpaceRef& space,
                                                  std::size_t value_size, MemoryId memory,
                                                  const Layout& layout, const Wait& wait) {
  collect_now_and_then();
  const data::InstanceLayout shape(*space, value_size, layout);
  std::vector<std::uint64_t> awaited;
  auto instance = std::make_unique<Instance>();
  void* bytes = memories_.pool(memory).allocate(shape.bytes, shape.alignment, this, awaited);
  if (bytes == nullptr) {
    collect();  // not for this context, which knows of these bytes; for those that share the memory
    return nullptr;
  }
  instance->space = space;
  instance->memory = memory;
  instance->mover = &memories_.pool(memory).mover();
  instance->layout = layout;
  instance->bytes = bytes;
  instance->size = shape.bytes;
  instance->zero = static_cast<std::byte*>(bytes) + shape.offset;
  if (shape.compact) {
    instance->compact = space.get();
    instance->runs = space->runs();
  }
  for (int d = 0; d < 3; ++d) instance->stride[d] = shape.stride[d];
  std::vector<exec::NodeRef> users;
  for (const std::uint64_t number : awaited)
    users.insert(users.end(), find_retired(number).users.begin(), find_retired(number).users.end());
  try {
    for (const std::uint64_t number : awaited) finish(number, wait);
  } catch (...) {  // the bytes stay theirs
    hold_back(std::move(instance), std::move(users));
    throw;
  }
  adopt(*instance);
  return instance;
}

std::size_t InstanceStore::alive() const {
  std::size_t sum = 0;
  for (const auto& in_memory : live_) sum += in_memory.size();
  return sum;
}

void InstanceStore::adopt(Instance& instance) {
  instance.position = live_[instance.memory].size();
  live_[instance.memory].push_back(&instance);
  instance.serial = next_serial_++;
  instance.queued_use = instance.last_use;
  if (instance.storage == Storage::pool) by_use_[instance.memory].insert(&instance);
}

void InstanceStore::retire(std::unique_ptr<Instance> instance, std::vector<exec::NodeRef> users) {
  auto& live = live_[instance->memory];
  live.back()->position = instance->position;
  live[instance->position] = live.back();
  live.pop_back();
  if (instance->storage == Storage::pool) by_use_[instance->memory].erase(instance.get());
  hold_back(std::move(instance), std::move(users));
  collect_now_and_then();
}

void InstanceStore::hold_back(std::unique_ptr<Instance> instance,
                              std::vector<exec::NodeRef> users) {
  const std::uint64_t number = next_retired_++;
  if (instance->storage == Storage::pool)
    memories_.pool(instance->memory).release(instance->bytes, {this, number});
  retired_bytes_ += instance->size;
  retired_.push_back({number, std::move(instance), std::move(users)});
}

void InstanceStore::settle(const Retired& retired) {
  const Instance& instance = *retired.instance;
  retired_bytes_ -= instance.size;
  if (instance.storage == Storage::pool)
    memories_.pool(instance.memory).settle({this, retired.number});
}

InstanceStore::Retired& InstanceStore::find_retired(std::uint64_t number) {
  return *std::ranges::lower_bound(retired_, number, {}, &Retired::number);
}

// Waits for the users of what was retired.
void InstanceStore::finish(std::uint64_t number, const Wait& wait) {
  Retired& retired = find_retired(number);
  for (; !retired.users.empty(); retired.users.pop_back())
    if (!exec::is_complete(retired.users.back())) wait(retired.users.back());
  settle(retired);
  retired_.erase(retired_.begin() + (&retired - retired_.data()));
}

// What is known of a last use is never later than it was: the first whose is right is the least.
Instance* InstanceStore::least_recently_used(MemoryId memory) {
  auto& queue = by_use_[memory];
  while (!queue.empty()) {
    Instance* first = *queue.begin();
    if (first->queued_use == first->last_use) return first;
    auto entry = queue.extract(queue.begin());
    first->queued_use = first->last_use;
    queue.insert(std::move(entry));
  }
  return nullptr;
}

void InstanceStore::collect() {
  std::erase_if(retired_, [&](Retired& retired) {
    while (!retired.users.empty() && exec::is_complete(retired.users.back()))
      retired.users.pop_back();
    if (!retired.users.empty()) return false;
    settle(retired);
    return true;
  });
  look_again_at_ = 2 * retired_.size() + kFew;
  look_again_at_bytes_ = 2 * retired_bytes_ + kFewBytes;
}

}  // namespace refrain::analysis
