#pragma once
// From what happens, as a preload library sees it, to the number of its event: so that the event's name is made and
// looked up only when it happens first. Open addressing, at most half full; some 2 ns where it is found at once. One
// thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace refrain::preload {

/// Key: has == and hash(), a std::uint64_t of which all bits count.
template <class Key>
class EventTable {
 public:
  /// Null, if it is not there. Holds until something is added.
  const std::uint32_t* find(const Key& key) const {
    const Entry& entry = entries_[place(key)];
    return entry.key ? &entry.event : nullptr;
  }
  /// Requires that it is not there.
  void add(const Key& key, std::uint32_t event) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    entries_[place(key)] = {key, event};
    ++size_;
  }

 private:
  struct Entry {
    std::optional<Key> key;
    std::uint32_t event = 0;
  };

  /// Where it is, or would be.
  std::size_t place(const Key& key) const {
    const std::size_t mask = entries_.size() - 1;  // of a power of two
    std::size_t at = key.hash() & mask;
    while (entries_[at].key && !(*entries_[at].key == key)) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Entry> old(2 * entries_.size());
    std::swap(old, entries_);
    for (const Entry& entry : old)
      if (entry.key) entries_[place(*entry.key)] = entry;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(64);
  std::size_t size_ = 0;
};

}  // namespace refrain::preload
