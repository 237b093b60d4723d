#include "runtime/launch_domain.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include "data/shared_index_space.hpp"
#include "refrain/error.hpp"
#include "refrain/launch.hpp"

namespace refrain::detail {

namespace {

/// The last dense domains of a thread, replaced in turn. Holds a few index spaces alive.
class RecentDomains {
 public:
  const data::IndexSpaceRef& find(int dim, const Rect<3>& rect) {
    for (const Entry& entry : entries_)
      if (entry.dim == dim && entry.rect == rect) return entry.space;
    Entry& entry = entries_[next_];
    next_ = (next_ + 1) % entries_.size();
    entry.space = data::IndexSpace::dense(dim, rect);
    entry.dim = dim;
    entry.rect = rect;
    return entry.space;
  }

 private:
  struct Entry {
    int dim = 0;  ///< 0: unused
    Rect<3> rect;
    data::IndexSpaceRef space;
  };
  std::array<Entry, 4> entries_;
  std::size_t next_ = 0;
};

}  // namespace

data::IndexSpaceRef space_of(const LaunchDomain& domain) {
  if (domain.sparse != nullptr) return domain.sparse->space;
  if (domain.dim < 1 || domain.dim > 3)
    throw UsageError("a launch domain of " + std::to_string(domain.dim) +
                     " dimensions: there are 1, 2 and 3");
  thread_local RecentDomains recent;
  return recent.find(domain.dim, domain.rect);
}

void for_each_launch_point(const LaunchDomain& domain,
                           const std::function<void(std::size_t, const Point<3>&)>& f) {
  std::size_t rank = 0;
  space_of(domain)->for_each_point([&](const Point<3>& p) { f(rank++, p); });
}

}  // namespace refrain::detail
