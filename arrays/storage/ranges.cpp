#include "storage/ranges.hpp"

#include "storage/hash.hpp"

namespace refrain::arrays {

const Ranges& RangesTable::intern(std::vector<Range> of_point) {
  WordHash hash;
  for (const Range& range : of_point) {
    hash.add(static_cast<std::uint64_t>(range.first));
    hash.add(static_cast<std::uint64_t>(range.last));
  }
  std::vector<std::unique_ptr<Ranges>>& bucket = by_hash_[hash.value()];
  for (const auto& known : bucket)
    if (known->of_point == of_point) return *known;
  bucket.push_back(std::make_unique<Ranges>(Ranges{std::move(of_point)}));
  return *bucket.back();
}

}  // namespace refrain::arrays
