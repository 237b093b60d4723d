#pragma once
// Equal values share one object, so that equality is a comparison of pointers. An object lives for as long as somebody
// has it. Owner: one thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

namespace refrain::shard {

template <class T>
class Interned {
 public:
  /// The one with this hash that `is_it` says yes to, or else a new one, made of `arguments`.
  template <class IsIt, class... Arguments>
  std::shared_ptr<const T> find_or_make(std::uint64_t hash, IsIt is_it, Arguments&&... arguments) {
    for (auto [entry, end] = entries_.equal_range(hash); entry != end; ++entry)
      if (auto alive = entry->second.lock(); alive && is_it(*alive)) return alive;
    if (entries_.size() >= sweep_at_) {
      std::erase_if(entries_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = 2 * entries_.size() + kFew;
    }
    auto made = std::make_shared<const T>(std::forward<Arguments>(arguments)...);
    entries_.emplace(hash, made);
    return made;
  }

 private:
  static constexpr std::size_t kFew = 64;

  std::unordered_multimap<std::uint64_t, std::weak_ptr<const T>> entries_;
  std::size_t sweep_at_ = kFew;
};

}  // namespace refrain::shard
