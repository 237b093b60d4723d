#include "trace/recorded_call.hpp"

#include "launch/context_core.hpp"

namespace refrain::runtime {

using trace::Index;

std::vector<Index> makers_of(const ContextCore& context,
                             std::span<detail::FutureState* const> futures, std::uint64_t base,
                             Index count) {
  std::vector<Index> makers;
  for (const detail::FutureState* future : futures) {
    if (future->points() == 0) makers.push_back(RecordedCall::kOutside);
    for (std::size_t rank = 0; rank < future->points(); ++rank) {
      const std::uint64_t seq =
          future->context() == context.identity ? future->producer(rank).seq : 0;
      makers.push_back(seq >= base && seq - base < count ? static_cast<Index>(seq - base)
                                                         : RecordedCall::kOutside);
    }
  }
  return makers;
}

}  // namespace refrain::runtime
