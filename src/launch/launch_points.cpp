#include "launch/launch_points.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include "base/text.hpp"
#include "launch/launch_plan.hpp"
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
  if (domain.dim == LaunchDomain::negative)
    throw UsageError(std::to_string(domain.rect.lo[0]) + " points, expected at least 0");
  if (domain.dim < 1 || domain.dim > 3)
    throw UsageError("a launch domain of " + std::to_string(domain.dim) +
                     " dimensions: there are 1, 2 and 3");
  thread_local RecentDomains recent;
  return recent.find(domain.dim, domain.rect);
}

data::IndexSpaceRef domain_of(const LaunchRequest& launch) {
  try {
    return space_of(launch.domain != nullptr ? *launch.domain : LaunchDomain(1));
  } catch (const UsageError& error) {
    throw UsageError(runtime::launch_name(launch) + ", its domain: " + error.what());
  }
}

void for_each_launch_point(const LaunchRequest& launch, std::size_t value,
                           const std::function<void(const Point<3>&)>& f) {
  domain_of(launch)->for_each_point([&](const Point<3>& p) {
    try {
      f(p);
    } catch (...) {
      fail_around(runtime::launch_name(launch) + ", by-value argument " + std::to_string(value) +
                  ": the function of per_point threw for point " +
                  data::to_string(p, launch.domain->dim));
    }
  });
}

}  // namespace refrain::detail
