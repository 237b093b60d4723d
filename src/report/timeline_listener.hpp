#pragma once
// Puts what the executor runs on a timeline, a track per thread, and what contexts do to issue it: the
// calls that they analyse, the traces that they record and replay. Threads: any, as the executor's.

#include "graph/executor.hpp"
#include "profile/clock.hpp"
#include "profile/timeline.hpp"

namespace refrain::runtime {

class TimelineListener final : public exec::ExecutionListener {
 public:
  explicit TimelineListener(profile::Timeline& timeline) : timeline_(timeline) {}
  void executed(const exec::Node& node, int thread, std::uint64_t begin_ns,
                std::uint64_t end_ns) override;
  void replayed(const exec::NodeInfo* info, exec::NodeKind kind, std::uint64_t seq, int thread,
                std::uint64_t begin_ns, std::uint64_t end_ns) override;

  /// A call was analysed, from `begin_ns` until now: a launch of the task of this name, or "copy" and the like.
  void analysed(std::string_view call, const std::source_location& where, int thread,
                std::uint64_t begin_ns);
  /// Part of a trace was recorded or replayed, so many of its calls.
  void traced(profile::Category what, std::string_view trace, const std::source_location& begun_at,
              std::uint64_t calls, int thread, std::uint64_t begin_ns);

 private:
  profile::Timeline& timeline_;
};

/// Shows that a call is being analysed, until the end of the scope. Null: there is no timeline.
class ShownAnalysis {
 public:
  ShownAnalysis(TimelineListener* timeline, const exec::Executor& executor, std::string_view call,
                const std::source_location& where)
      : timeline_(timeline), executor_(executor), call_(call), where_(where) {
    if (timeline_ != nullptr) begin_ns_ = profile::now_ns();
  }
  ~ShownAnalysis() {
    if (timeline_ != nullptr)
      timeline_->analysed(call_, where_, executor_.this_thread(), begin_ns_);
  }
  ShownAnalysis(const ShownAnalysis&) = delete;

 private:
  TimelineListener* const timeline_;
  const exec::Executor& executor_;
  const std::string_view call_;
  const std::source_location& where_;
  std::uint64_t begin_ns_ = 0;
};

}  // namespace refrain::runtime
