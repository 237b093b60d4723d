#pragma once
// How long tasks take, on a thread that is the only one. Short ones it runs as they are issued, in the order of the
// program, which costs nothing. Long ones it had better run as they become ready, the latest first: they then find more
// of their data in the caches (s3d-like with tasks of 34 us: by 3%), and what that costs does not matter.
//
// Owner: that thread.

#include <cstdint>

namespace refrain::exec {

class Pace {
 public:
  /// Enough tasks have been executed since the last look for another: `look` may be called.
  [[nodiscard]] bool due(std::uint64_t executed) const {
    return executed >= executed_then_ + kTasks;
  }
  void look(std::uint64_t now_ns, std::uint64_t executed) {
    const std::uint64_t tasks = executed - executed_then_;
    if (looked_ns_ > 0) is_short_ = now_ns - looked_ns_ < kLongNs * tasks;
    looked_ns_ = now_ns;
    executed_then_ = executed;
  }
  [[nodiscard]] bool is_short() const { return is_short_; }

 private:
  static constexpr std::uint64_t kTasks = 256;
  static constexpr std::uint64_t kLongNs = 20'000;  ///< of a task, with all that is done for it
  std::uint64_t looked_ns_ = 0, executed_then_ = 0;
  bool is_short_ = true;
};

}  // namespace refrain::exec
