#pragma once
// The memory of the program that is attached to fields, in all contexts of a runtime: none of it twice at the
// same time.
//
// Threads: any, one lock. Cost: O(log n), and a look at each attachment near by.

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "data/layout.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

class Attachments {
  struct Known {
    data::PlacedValues values;
    std::string what;
  };
  using Table = std::multimap<Coord, Known>;  ///< by the first address

 public:
  /// Ends with the object.
  class Entry {
   public:
    Entry() = default;
    Entry(Entry&& other) noexcept : table_(std::exchange(other.table_, nullptr)), at_(other.at_) {}
    Entry& operator=(Entry&&) = delete;
    ~Entry() {
      if (table_ != nullptr) table_->remove(at_);
    }

   private:
    friend class Attachments;
    Entry(Attachments& table, Table::iterator at) : table_(&table), at_(at) {}
    Attachments* table_ = nullptr;
    Table::iterator at_;
  };

  /// `what`: "field 'mass' of region 3, attached at main.cpp:12". Throws UsageError, beginning with `who`,
  /// when something attached has a byte in common with the values. No points: nothing is noted.
  [[nodiscard]] Entry add(const data::PlacedValues& values, std::string what,
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

 private:
  void remove(Table::iterator at) {
    const std::lock_guard lock(mutex_);
    table_.erase(at);
    if (table_.empty()) longest_ = 0;
  }

  std::mutex mutex_;
  Table table_;
  Coord longest_ = 0;  ///< of the extents of all
};

}  // namespace refrain::runtime
