#pragma once
// Notices when what comes begins to repeat itself: of a stream of values, whether the last few are the same as
// as many before them.
//
// Owner: one thread. Cost: a look for each length.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace refrain::runtime {

template <class T>
class Repetition {
 public:
  static constexpr std::size_t kLongest = 16;

  void add(const T& value) {
    if (values_.size() == 2 * kKept) values_.erase(values_.begin(), values_.begin() + kKept);
    values_.push_back(value);
  }
  void clear() { values_.clear(); }

  /// The shortest sequence that came twice, one after the other, at the end; empty if there is none.
  [[nodiscard]] std::span<const T> twice() const {
    const std::size_t size = values_.size();
    for (std::size_t length = 1; length <= std::min(kLongest, size / 2); ++length) {
      const std::span<const T> last(values_.data() + size - length, length);
      if (std::equal(last.begin(), last.end(), last.data() - length)) return last;
    }
    return {};
  }

 private:
  static constexpr std::size_t kKept = 2 * kLongest;
  std::vector<T> values_;  ///< the last ones, at least kKept of them
};

}  // namespace refrain::runtime
