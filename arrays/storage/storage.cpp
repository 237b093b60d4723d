#include "storage/storage.hpp"

#include <algorithm>
#include <utility>

namespace refrain::arrays::detail {

namespace {

template <class T>
constexpr Field<T> kElements{"element"};

// Dead storage is kept up to what was alive at once before, and a quarter.
constexpr std::size_t kept(std::size_t most) { return most + most / 4; }
// Storage that ended is waited for whenever it is so much, and a quarter of what was alive at once: all storage together
// is at most 1.5 times what was alive at once, and this.
constexpr std::size_t kLeastEnded = std::size_t{16} << 20;

}  // namespace

const AnyField& field_of(DType type) {
  static const AnyField* const fields[kDTypes] = {
      &kElements<bool>,  &kElements<std::int32_t>, &kElements<std::int64_t>,
      &kElements<float>, &kElements<double>,       &kElements<std::complex<double>>};
  return *fields[static_cast<int>(type)];
}

Storage::Storage(Context& context, std::shared_ptr<const Tiling> tiling, DType type,
                 const Where& where)
    : tiling_(std::move(tiling)), type_(type) {
  const AnyField fields[] = {field_of(type)};
  region_ = context.make_region(IndexSpace<1>(Rect1{0, tiling_->elements - 1}), fields, where);
}

const AnyPartition& Storage::partition(Context& context,
                                       const std::shared_ptr<const Ranges>& ranges,
                                       const Where& where) {
  for (std::size_t i = parts_.size(); i-- > 0;) {
    if (parts_[i].ranges != ranges) continue;
    if (parts_.size() < kMostPartitions) return parts_[i].partition;
    std::rotate(parts_.begin() + static_cast<std::ptrdiff_t>(i),
                parts_.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts_.end());
    return parts_.back().partition;
  }
  if (parts_.size() == kMostPartitions) {
    context.destroy(parts_.front().partition, where);
    parts_.erase(parts_.begin());
  }
  std::vector<AnyIndexSpace> pieces;
  pieces.reserve(ranges->of_point.size());
  for (const Range& range : ranges->of_point)
    pieces.push_back(IndexSpace<1>(Rect1{range.first, range.last}));
  parts_.push_back({ranges, context.make_explicit(region_, pieces, where)});
  return parts_.back().partition;
}

Requirement Storage::requirement(Context& context, Privilege privilege,
                                 const std::shared_ptr<const Ranges>& ranges, int points,
                                 const Where& where) {
  if (ranges == nullptr) return Requirement::of(region_, field(), privilege);
  const AnyPartition& pieces = partition(context, ranges, where);
  if (points == 1) return Requirement::of(pieces.piece({0, 0, 0}), field(), privilege);
  return Requirement::of(pieces, field(), privilege);
}

Pool::~Pool() {
  for (const auto& storage : all_) {
    try {
      context_.destroy(storage->region());
    } catch (const Error&) {
      // The context has ended, and the region with it; or a task has failed, of which the next fence tells.
    }
  }
}

Pool::Key Pool::key_of(const Tiling& tiling, DType type) {
  return Key{tiling.number} * kDTypes + static_cast<Key>(type);
}

bool Pool::promise(std::size_t bytes) {
  const std::size_t used = alive_ + promised_;
  if (bytes > room_ || used > room_ - bytes) return false;
  promised_ += bytes;
  return true;
}

Storage& Pool::take(const std::shared_ptr<const Tiling>& tiling, DType type, const Where& where) {
  const Key key = key_of(*tiling, type);
  const std::size_t bytes = static_cast<std::size_t>(tiling->elements) * size_of(type);
  Storage* storage = nullptr;
  if (const auto shelf = shelves_.find(key);
      shelf != shelves_.end() && !shelf->second.free.empty()) {
    shelf->second.used = ++uses_;
    storage = &take_first(shelf->second);
    pooled_ -= bytes;
    ++reused_;
  } else {
    make_room(bytes, where);
    all_.push_back(std::make_unique<Storage>(context_, tiling, type, where));
    storage = all_.back().get();
    storage->place = all_.size() - 1;
    storage->number = next_number_++;
    Shelf& kind = shelves_[key];
    kind.used = ++uses_;
    kind.free.reserve(++kind.made);
    ++made_;
  }
  promised_ -= bytes;
  alive_ += bytes;
  most_ = std::max(most_, alive_);
  return *storage;
}

void Pool::give_back(Storage& storage) noexcept {
  alive_ -= storage.bytes();
  pooled_ += storage.bytes();
  std::vector<Storage*>& free =
      shelves_.find(key_of(storage.tiling(), storage.type()))->second.free;
  free.push_back(&storage);
  std::push_heap(free.begin(), free.end(), comes_later);
}

bool Pool::comes_later(const Storage* a, const Storage* b) { return a->number > b->number; }

Storage& Pool::take_first(Shelf& shelf) {
  std::pop_heap(shelf.free.begin(), shelf.free.end(), comes_later);
  Storage& first = *shelf.free.back();
  shelf.free.pop_back();
  return first;
}

// Ends dead storage, the kinds that were used longest ago first, until there is room for as much more.
void Pool::make_room(std::size_t bytes, const Where& where) {
  const std::size_t most = std::min(room_, kept(std::max(most_, alive_ + bytes)));
  while (pooled_ > 0 && alive_ + pooled_ + bytes > most) {
    Shelf* oldest = nullptr;
    for (auto& [key, shelf] : shelves_)
      if (!shelf.free.empty() && (oldest == nullptr || shelf.used < oldest->used)) oldest = &shelf;
    Storage& storage = take_first(*oldest);
    pooled_ -= storage.bytes();
    end(storage, where);
  }
}

void Pool::end(Storage& storage, const Where& where) {
  const AnyRegion region = storage.region();
  const std::size_t bytes = storage.bytes();
  const auto shelf = shelves_.find(key_of(storage.tiling(), storage.type()));
  if (--shelf->second.made == 0) shelves_.erase(shelf);
  const std::size_t place = storage.place;
  all_.back()->place = place;
  std::swap(all_[place], all_.back());
  all_.pop_back();
  context_.destroy(region, where);
  ended_ += bytes;
}

bool Pool::must_wait() {
  if (ended_ <= kLeastEnded + most_ / 4) return false;
  ended_ = 0;
  return true;
}

}  // namespace refrain::arrays::detail
