#pragma once
// The memory of the program that is attached to fields, in all contexts of a runtime: none of it twice at the
// same time.
//
// Threads: any, one lock. Cost: O(log n), and a look at each attachment near by.

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "data/layout.hpp"

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
                          const std::string& who);

 private:
  void remove(Table::iterator at);

  std::mutex mutex_;
  Table table_;
  Coord longest_ = 0;  ///< of the extents of all
};

}  // namespace refrain::runtime
