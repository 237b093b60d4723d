#pragma once
// Puts what the executor runs on a timeline, a track per thread. Threads: any, as the executor's.

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

 private:
  profile::Timeline& timeline_;
};

}  // namespace refrain::runtime
