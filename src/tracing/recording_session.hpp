#pragma once
// One recording, while it is made: the recorder listens to the analysis, and each call is described so that the next one
// like it can be told.
//
// Owner: the context's thread.

#include <cstdint>
#include <initializer_list>
#include <memory>

#include "launch/context_core.hpp"
#include "replay/compiled_trace.hpp"
#include "trace/recorder.hpp"

namespace refrain::runtime {

class RecordingSession {
 public:
  explicit RecordingSession(ContextCore& context) : context_(context) {}

  [[nodiscard]] bool is_open() const { return recorder_ != nullptr; }
  [[nodiscard]] std::size_t calls() const { return calls_.size(); }
  /// Of the calls (finder/history.hpp).
  [[nodiscard]] std::uint64_t work() const { return work_; }
  [[nodiscard]] std::size_t operations() const { return recorder_->operations(); }
  /// Null, or why what was analysed cannot be repeated.
  [[nodiscard]] const char* fault() const { return recorder_->fault(); }

  void begin();
  /// A launch was analysed; or another call, which names these fields and regions.
  void add(LaunchPlan& plan, const LaunchRequest& request);
  void add(const TracedCall& made, std::uint64_t token,
           std::initializer_list<analysis::FieldState*> fields,
           std::span<const AnyRegion* const> regions);

  struct Result {
    CompiledTrace::Calls calls;
    std::unique_ptr<trace::Recording> recording;  ///< null: nothing is kept of the calls
    const char* fault = nullptr;                  ///< why not; null: there was no operation
    bool may_work_next_time = false;              ///< the fault
  };
  /// The analysis is not listened to any more.
  Result end();
  void abandon() noexcept;

 private:
  void release_plans() noexcept;
  [[nodiscard]] std::vector<trace::Index> makers(
      std::span<detail::FutureState* const> futures) const {
    return makers_of(context_.identity, futures, first_seq_, recorder_->operations());
  }

  ContextCore& context_;
  std::unique_ptr<trace::Recorder> recorder_;
  CompiledTrace::Calls calls_;
  std::uint64_t work_ = 0;
  std::uint64_t first_seq_ = 0;
};

}  // namespace refrain::runtime
