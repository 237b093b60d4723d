#pragma once
// --refrain:capture: the calls of the program and how long its tasks took, as a captured program
// (capture/captured_program.hpp).
//
// Calls that tasks make are not captured; a task that makes some is marked. Of several processes that run a program each
// captures all calls, and the times of its own tasks.
//
// A body is counted for its task and for the launch of the program that its plan was last used by: where plans are shared
// by launches that differ in their futures only, for the last of these.
//
// Threads: calls come from the program's thread, launches from the threads of all contexts, times from any; one lock.
// Memory: what the file has, 1024 times for each volume of each task's and each call's arguments, 16 bytes for each future,
// and an entry for each plan. Costs some hundred nanoseconds for each call, body and move, the words for why a launch was
// analysed, 20 ms at the beginning, and a millisecond at the end.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "capture/captured_program.hpp"
#include "launch/program_call.hpp"
#include "oracle/reduction.hpp"
#include "report/core_waits.hpp"
#include "report/listeners.hpp"

namespace refrain::runtime {

/// How long runs took, by the bytes of their arguments. Of many different volumes those nearby are counted together.
class DurationSamples {
 public:
  /// `waits`: in seconds, within it.
  void add(std::uint64_t bytes, std::uint64_t ns, double waits = 0);
  [[nodiscard]] capture::Costs costs() const;
  [[nodiscard]] std::uint64_t runs() const { return runs_; }

 private:
  static constexpr std::size_t kVolumes = 256, kSamples = 1024;
  struct Volume {
    std::uint64_t count = 0;
    double waits = 0;               ///< of all
    std::vector<std::uint64_t> ns;  ///< of runs chosen evenly, where there are many
  };
  std::map<std::uint64_t, Volume> volumes_;
  std::uint64_t random_ = 0, runs_ = 0;
};

class CaptureFile final : public ReportFile {
 public:
  CaptureFile(const std::string& path, const Machine& machine);
  void program_call(const ProgramCall& call) override;
  void program_call_ended() override;
  void asked(const LaunchPlan& plan) override;
  void launched(LaunchPlan& plan, const std::string& why) override;
  void ran(const BodyRun& body) override;
  void moved(const Move& move) override;
  /// Writes the program. A second call does nothing.
  void close();

 private:
  using Number = capture::Number;
  using Words = std::vector<std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Words& words) const {
      return hash_bytes(words.data(), words.size() * sizeof words[0]);
    }
  };
  /// An access that is open: when it began, and where in the stream.
  struct Open {
    std::uint64_t begin_ns, position;
    Number call;
  };
  enum class Whose : std::uint8_t { task, call };
  struct Held {
    std::uint64_t count = 0, ns = 0;
  };

  Number space(const data::IndexSpaceRef& points);
  Number field(const AnyField& field);
  Number task(const detail::TaskRecord& record);
  Number op(const ReductionOp& op);
  Number projection(const Projection& projection, const data::IndexSpaceRef& domain);
  Number region(const AnyRegion& made);
  Number partition(const AnyPartition& made);
  [[nodiscard]] capture::Place place(const AnyRegion& region) const;
  [[nodiscard]] bool knows(const AnyRegion& region) const;
  capture::Argument argument(const Requirement& requirement, const data::IndexSpaceRef& domain);
  void add_future(capture::Call& call, const detail::FutureState* future) const;
  const std::string& trace(const Trace& trace);
  bool describe(const ProgramCall& told, capture::Call& call);
  bool describe_launch(const LaunchRequest& launch, capture::Call& call);
  Number number_of(const capture::Call& call);
  void note_plan(const LaunchPlan& plan);
  [[nodiscard]] bool is_launched_by(Number number, const LaunchPlan& plan) const;
  void measure_moves();

  std::mutex mutex_;
  bool closed_ = false;
  capture::Program program_;
  oracle::Reduction stream_;
  std::uint64_t position_ = 0;  ///< calls so far
  std::unordered_map<Words, Number, Hash> calls_;
  std::map<const data::IndexSpace*, Number> spaces_;
  std::map<std::uint64_t, Number> tasks_;  ///< by their ids
  /// A projection keeps its address.
  std::map<std::pair<const Projection::Impl*, const data::IndexSpace*>,
           std::pair<Number, Projection>>
      projections_;
  std::map<Words, Number> known_;  ///< regions and partitions, by all that they are
  /// Those alive now: a tree, and the partition in it, or kNone.
  std::map<std::pair<const data::RegionTree*, std::uint32_t>, Number> number_of_;
  std::unordered_map<std::uint64_t, std::uint64_t>
      made_at_;                               ///< positions of futures, by FutureState::call
  std::map<std::uint64_t, Open> open_;        ///< accesses, by ticket
  std::map<Number, Held> held_;               ///< accesses that have ended, by call
  std::map<Number, DurationSamples> pauses_;  ///< of the program's own, before a launch, by call
  std::uint64_t call_end_ns_ = 0;             ///< of the last call; 0: another one goes on
  Number launching_ = capture::kNone;         ///< the program's launch that goes on
  std::unordered_map<const LaunchPlan*, Number> call_of_;  ///< the last launch of each plan
  std::map<std::tuple<Whose, Number, ProcessorKind>, DurationSamples> bodies_;
  std::map<exec::NodeKind, DurationSamples> moves_;
  std::map<std::uint64_t, std::string> traces_;  ///< what those with these ids are called
  CoreWaits waits_;
};

}  // namespace refrain::runtime
