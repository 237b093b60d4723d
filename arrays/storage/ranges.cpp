#include "storage/ranges.hpp"

#include <algorithm>

#include "storage/hash.hpp"

namespace refrain::arrays::detail {

std::shared_ptr<const Ranges> RangesTable::intern(std::vector<Range> of_point) {
  WordHash hash;
  for (const Range& range : of_point) {
    hash.add(static_cast<std::uint64_t>(range.first));
    hash.add(static_cast<std::uint64_t>(range.last));
  }
  if (const auto bucket = by_hash_.find(hash.value()); bucket != by_hash_.end())
    for (const auto& known : bucket->second)
      if (known->of_point == of_point) return known;
  forget_unused();
  ++count_;
  return by_hash_[hash.value()].emplace_back(std::make_shared<Ranges>(Ranges{std::move(of_point)}));
}

// As for tilings: bounded by what is in use.
void RangesTable::forget_unused() {
  if (count_ < sweep_at_) return;
  count_ = 0;
  for (auto at = by_hash_.begin(); at != by_hash_.end();) {
    std::erase_if(at->second, [](const auto& ranges) { return ranges.use_count() == 1; });
    count_ += at->second.size();
    at = at->second.empty() ? by_hash_.erase(at) : std::next(at);
  }
  sweep_at_ = std::max<std::size_t>(1024, 2 * count_);
}

}  // namespace refrain::arrays::detail
