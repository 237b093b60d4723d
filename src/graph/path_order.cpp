#include "graph/path_order.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <span>
#include <utility>

namespace refrain::exec {

bool PathOrder::times(std::uint32_t number, std::uint32_t oldest) {
  if (timed_ < kTimedReplays) {
    ++timed_;
    last_ = number;
    return true;
  }
  if (nodes_.empty() && oldest > last_) order();
  return false;
}

void PathOrder::took(std::uint32_t index, std::uint64_t ns) {
  std::uint64_t shortest = durations_[index].load(std::memory_order_relaxed);
  while ((shortest == 0 || ns < shortest) &&
         !durations_[index].compare_exchange_weak(shortest, ns, std::memory_order_relaxed)) {}
}

std::size_t PathOrder::bytes() const {
  return nodes_.capacity() * sizeof(TemplateNode) + successors_.capacity() * sizeof(Successor) +
         template_.size() * sizeof(std::uint64_t);
}

std::vector<std::uint64_t> PathOrder::remaining(bool to_the_next_end) const {
  std::vector<std::uint64_t> beyond(template_.size());
  if (to_the_next_end) beyond = remaining(false);
  std::vector<std::uint64_t> paths(template_.size());
  for (std::uint32_t i = template_.size(); i-- > 0;) {  // inner edges lead to later operations
    const TemplateNode& node = template_.node(i);
    const Successor* const first = template_.successors() + node.first;
    std::uint64_t longest = 0;
    for (std::uint32_t s = 0; s < node.carried() + node.inner; ++s)
      longest = std::max(longest, (s < node.carried() ? beyond : paths)[first[s].index()]);
    paths[i] = durations_[i].load(std::memory_order_relaxed) + longest;
  }
  return paths;
}

/// Where there is no memory for it, the template's stays.
void PathOrder::order() noexcept try {
  const std::vector<std::uint64_t> here = remaining(true), next = remaining(false);
  std::uint64_t longest = 0;
  for (std::uint32_t i = 0; i < template_.size(); ++i)
    longest = std::max(longest, durations_[i].load(std::memory_order_relaxed));
  const std::uint64_t about = longest / 2 + 1;
  const auto by = [about](const std::vector<std::uint64_t>& paths) {
    return [&paths, about](Successor successor) { return paths[successor.index()] / about; };
  };
  std::vector<TemplateNode> nodes(template_.nodes(), template_.nodes() + template_.size());
  std::vector<Successor> successors;
  for (TemplateNode& node : nodes) {
    const std::uint32_t first = static_cast<std::uint32_t>(successors.size());
    const Successor* const recorded = template_.successors() + node.first;
    successors.insert(successors.end(), recorded, recorded + node.carried() + node.inner);
    const std::span<Successor> all = std::span(successors).subspan(first);
    std::ranges::stable_sort(all.first(node.carried()), std::greater<>(), by(next));
    std::ranges::stable_sort(all.subspan(node.carried()), std::greater<>(), by(here));
    node.first = first;
    if ((node.flags & kEnds) == 0) node.head = successors[first];
  }
  nodes_ = std::move(nodes);
  successors_ = std::move(successors);
} catch (const std::bad_alloc&) {}

}  // namespace refrain::exec
