#pragma once
// Puts what the executor runs on a timeline, a track per thread, and what contexts do to issue it: the
// launches that they analyse, the traces that they record and replay. Threads: any, as the executor's.

#include "exec/executor.hpp"
#include "profile/timeline.hpp"

namespace refrain::runtime {

class TimelineListener final : public exec::ExecutionListener {
 public:
  explicit TimelineListener(profile::Timeline& timeline) : timeline_(timeline) {}
  void executed(const exec::Node& node, int thread, std::uint64_t begin_ns,
                std::uint64_t end_ns) override;
  void replayed(const exec::NodeInfo* info, exec::NodeKind kind, std::uint64_t seq, int thread,
                std::uint64_t begin_ns, std::uint64_t end_ns) override;

  /// A launch was analysed, from `begin_ns` until now.
  void analysed(std::string_view task, const std::source_location& where, int thread,
                std::uint64_t begin_ns);
  /// Part of a trace was recorded or replayed, so many of its calls.
  void traced(profile::Category what, std::string_view trace, const std::source_location& begun_at,
              std::uint64_t calls, int thread, std::uint64_t begin_ns);

 private:
  profile::Timeline& timeline_;
};

}  // namespace refrain::runtime
