#include "report/core_waits.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <system_error>
#include <vector>

#include "profile/clock.hpp"
#include "report/capture.hpp"

namespace refrain::runtime {
namespace {

/// The present thread stays on one core.
class OnCore {
 public:
  explicit OnCore(int core) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;

 private:
  cpu_set_t before_;
};

/// One that the process may use and that is not `core`; -1: there is none.
int other_than(int core) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
  for (int other = 0; other < CPU_SETSIZE; ++other)
    if (other != core && CPU_ISSET(other, &allowed)) return other;
  return -1;
}

/// How much longer it takes to write so many bytes that another core has read; none: it cannot be seen.
capture::Costs measured() {
  constexpr std::size_t kLeast = std::size_t{1} << 12, kMost = std::size_t{1} << 22;
  constexpr int kTimes = 8;
  const int core = sched_getcpu(), other = other_than(core);
  if (core < 0 || other < 0) return {};
  const OnCore here(core);
  using Value = std::uint64_t;
  std::vector<Value> values(kMost / sizeof(Value), 1);
  // How many values the other core is to read; 0: it has read them. What is written before is seen by who sees that.
  std::atomic<std::size_t> wanted{0};
  constexpr std::size_t kEnd = ~std::size_t{0};
  std::atomic<Value> sum{0};
  const auto read_values = [&] {
    const OnCore there(other);
    for (std::size_t count = 0; count != kEnd; count = wanted.load(std::memory_order_acquire)) {
      if (count == 0) continue;
      Value read = 0;
      for (std::size_t i = 0; i < count; ++i) read += values[i];
      sum.store(read, std::memory_order_relaxed);  // so that it is not left out
      wanted.store(0, std::memory_order_release);
    }
  };
  std::optional<std::thread> reader;
  try {
    reader.emplace(read_values);
  } catch (const std::system_error&) { return {}; }
  DurationSamples samples;
  for (std::size_t bytes = kLeast; bytes <= kMost; bytes *= 4) {
    const std::size_t count = bytes / sizeof(Value);
    // A loop as bodies have them: a fill is less work for the cores' caches.
    const auto change_ns = [&] {
      const std::uint64_t begin = profile::now_ns();
      for (std::size_t i = 0; i < count; ++i) values[i] += 3;
      std::atomic_signal_fence(std::memory_order_seq_cst);  // before the clock is read
      return profile::now_ns() - begin;
    };
    for (int time = 0; time < kTimes; ++time) {
      change_ns();
      const std::uint64_t own = change_ns();
      wanted.store(count, std::memory_order_release);
      while (wanted.load(std::memory_order_acquire) != 0) {}
      const std::uint64_t shared = change_ns();
      samples.add(bytes, shared > own ? shared - own : 0);
    }
  }
  wanted.store(kEnd, std::memory_order_release);
  reader->join();
  return samples.costs();
}

}  // namespace

CoreWaits::CoreWaits() : shared_writes_(measured()), lines_(shared_writes_) {}

double CoreWaits::of(std::span<const Listener::Used> used) {
  constexpr std::size_t kMost = 100'000;
  if (!lines_.matter()) return 0;
  if (lines_.blocks() > kMost) lines_ = capture::SharedLines(shared_writes_);
  const auto next = static_cast<std::uint32_t>(cores_.size());
  const std::uint32_t core = cores_.try_emplace(std::this_thread::get_id(), next).first->second;
  std::vector<capture::Touch> touches;
  for (const Listener::Used& values : used)
    if (!values.points->empty())
      touches.push_back({lines_.block({values.placement->zero, 0}, values.points->bounds()),
                         values.reads, values.writes, static_cast<double>(values.bytes)});
  return lines_.begin(touches, core);
}

}  // namespace refrain::runtime
