#include "storage/ranges.hpp"

#include <utility>

#include "storage/hash.hpp"

namespace refrain::arrays::detail {

std::shared_ptr<const Ranges> RangesTable::intern(std::vector<Range> of_point) {
  WordHash hash;
  for (const Range& range : of_point) {
    hash.add(static_cast<std::uint64_t>(range.first));
    hash.add(static_cast<std::uint64_t>(range.last));
  }
  return known_.get(
      hash.value(), [&](const Ranges& known) { return known.of_point == of_point; },
      [&] { return Ranges{std::move(of_point)}; });
}

}  // namespace refrain::arrays::detail
