#pragma once
// Equal values as one object, for as long as anybody has it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace refrain::arrays::detail {

/// One owner; what it gives away may be let go by any thread.
template <class T>
class Interned {
 public:
  /// The known one with this hash for which same(known) holds, else make().
  template <class Same, class Make>
  std::shared_ptr<const T> get(std::uint64_t hash, Same&& same, Make&& make) {
    if (const auto bucket = by_hash_.find(hash); bucket != by_hash_.end())
      for (const auto& known : bucket->second)
        if (same(*known)) return known;
    forget_unused();
    ++count_;
    return by_hash_[hash].emplace_back(std::make_shared<const T>(make()));
  }

 private:
  static constexpr std::size_t kLeast = 1024;

  // Programs may make ever other ones: each time that there are twice as many as were in use, those that are not any
  // more go. One that a task just now lets go of stays for another time.
  void forget_unused() {
    if (count_ < sweep_at_) return;
    count_ = 0;
    for (auto at = by_hash_.begin(); at != by_hash_.end();) {
      std::erase_if(at->second, [](const auto& one) { return one.use_count() == 1; });
      count_ += at->second.size();
      at = at->second.empty() ? by_hash_.erase(at) : std::next(at);
    }
    sweep_at_ = std::max(kLeast, 2 * count_);
  }

  std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<const T>>> by_hash_;
  std::size_t count_ = 0, sweep_at_ = kLeast;
};

}  // namespace refrain::arrays::detail
