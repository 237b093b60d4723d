#include "runtime/attachments.hpp"

#include <algorithm>

#include "refrain/error.hpp"

namespace refrain::runtime {

Attachments::Entry Attachments::add(const data::PlacedValues& values, std::string what,
                                    const std::string& who) {
  if (values.points->empty()) return {};
  const Rect<1> extent = values.extent();
  const Coord first = extent.lo[0], last = extent.hi[0];
  const std::lock_guard lock(mutex_);
  for (auto at = table_.lower_bound(first - longest_); at != table_.end() && at->first <= last;
       ++at)
    if (data::share_bytes(values, at->second.values))
      throw UsageError(who + ": the memory is in use already: it shares bytes with that for " +
                       at->second.what);
  longest_ = std::max(longest_, last - first);
  return {*this, table_.emplace(first, Known{values, std::move(what)})};
}

void Attachments::remove(Table::iterator at) {
  const std::lock_guard lock(mutex_);
  table_.erase(at);
  if (table_.empty()) longest_ = 0;
}

}  // namespace refrain::runtime
