#pragma once
// What a run leaves behind for people: statistics, timeline, graph (--refrain:stats, :timeline, :graph).

namespace refrain::runtime {

class RuntimeImpl;

class Reports {
 public:
  explicit Reports(RuntimeImpl& runtime) : runtime_(runtime) {}

 private:
  RuntimeImpl& runtime_;
};

}  // namespace refrain::runtime
