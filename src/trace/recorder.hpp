#pragma once
// Writes a recording while the analysis runs.
//
// Equivalence sets may be cut meanwhile. Each effect on an equivalence set so far is then an effect on each of its parts.
// So the recorder notes which place was cut after how many effects, and in the end replaces each of these effects by one
// for each part.
//
// Owner: the context's thread, for as long as one trace is recorded. Cost: some ten instructions per effect.
// It notes its indices on equivalence sets and fields (analysis::RecorderNote).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/field_state.hpp"
#include "trace/per_replay_instances.hpp"
#include "trace/recording.hpp"

namespace refrain::trace {

class Recorder final : public analysis::StateLog {
 public:
  /// The next operation of the context will have sequence number `first`, the next instance `first_serial`.
  Recorder(std::uint64_t first, std::uint64_t first_serial);
  ~Recorder() override;
  /// A call has been analysed, with all its operations. `arguments`: how many each of its tasks has.
  void step(std::uint32_t arguments = 0);
  /// A call names this field, with or without points; and this tree, which is pinned until the recording is made.
  void uses(analysis::FieldState& field) { index_of(field); }
  void uses(const data::UsedTree& used);
  /// The next argument of the tasks of the call that ends next, point by point, is in this instance.
  void argument(analysis::Instance& instance) { arguments_.push_back(own_.name_of(instance)); }

  /// Null: all calls so far can be replayed. Otherwise the reason, to follow the word "because".
  [[nodiscard]] const char* fault() const { return fault_; }
  /// Of the calls so far.
  [[nodiscard]] Index operations() const {
    return made_.steps.empty() ? 0 : made_.steps.back().operations;
  }

  /// The recording of the calls that were analysed to their end; null if the last check finds a fault. Once, and only
  /// while there is no fault.
  std::unique_ptr<Recording> finish();

  // --- StateLog ---
  void change(analysis::StateChange change, std::span<analysis::EquivalenceSet* const> sets,
              analysis::Instance& instance, const exec::Node& operation) override;
  void pend(analysis::FieldState& field, analysis::EquivalenceSet& set,
            const std::shared_ptr<const analysis::FillValue>& value) override;
  void made(analysis::Instance& instance, bool shortage) override;
  void ends(analysis::FieldState& field) override;
  void gives_up(analysis::Instance& instance) override;
  void shared(analysis::FieldState& field, const std::shared_ptr<const void>& after) override;
  void message(analysis::MessagePayload payload) override { next_ = std::move(payload); }
  void exchange(analysis::ExchangePayload payload) override { next_ = payload; }
  void take(analysis::TakePayload payload) override { next_ = std::move(payload); }
  void give(const analysis::FoldPayload& payload, const exec::NodeRef& reducer) override {
    next_ = Fold{payload, index_of(reducer.seq)};
  }
  void origin(const exec::Node& operation, const analysis::Origin& origin) override;
  void operation(const exec::Node& operation, std::span<const exec::NodeRef> predecessors) override;
  void untraceable(const char* what) override;

 private:
  static constexpr std::size_t kFew = 32;  ///< that a recording may have at no extra cost

  /// The equivalence set of a place was cut after so many effects; what was cut off is at the place `part`.
  struct Cut {
    std::size_t effects;
    Index part;
    Index earlier;  ///< cut of the same place; kNone: it is the first
  };

  /// kNone: an operation from before the recording.
  [[nodiscard]] Index index_of(std::uint64_t seq) const {
    return seq >= first_ ? static_cast<Index>(seq - first_) : kNone;
  }
  std::uint32_t index_of(analysis::FieldState& field) {
    return field.recorded.recorder == number_ ? field.recorded.index : add(field);
  }
  Index place_of(analysis::FieldState& field, analysis::EquivalenceSet& set) {
    return set.recorded.recorder == number_ ? set.recorded.index : touch(field, set);
  }
  Index this_step() const { return static_cast<Index>(made_.steps.size()); }
  Operation& at(std::uint64_t seq);
  std::uint32_t add(analysis::FieldState& field);
  void look_for_cuts(analysis::FieldState& field);
  Index touch(analysis::FieldState& field, analysis::EquivalenceSet& set);
  std::optional<Work> work_of(exec::Node& node);
  bool take_back_unfinished();
  void find_parts(Index place, std::size_t effect, std::vector<Index>& parts) const;
  void place_again();
  void note_used(analysis::FieldState& field);
  void choose_names();
  void place_arguments();

  std::uint64_t first_;       ///< sequence number of the first operation that is analysed
  std::uint64_t number_ = 0;  ///< that no other recorder has, on what this one has seen
  Recording made_;
  std::vector<data::UsedTree> trees_;
  std::vector<Cut> cuts_;         ///< in the order in which they were made
  std::vector<Index> last_cuts_;  ///< of each place, as far as they go; kNone: it was never cut
  /// By which step. They are kept: of one that is gone, another might have the address.
  std::unordered_map<std::shared_ptr<const analysis::FillValue>, Index> fills_;
  PerReplayInstances own_;
  std::vector<analysis::Instance*> arguments_;
  /// By step: where its tasks' arguments end there, and how many each has.
  std::vector<std::pair<std::size_t, std::uint32_t>> argument_rows_;
  std::optional<Work> next_;  ///< of the next operation
  /// The fields that the call goes by on all shards; and of each field of the recording what is known to be used.
  std::vector<analysis::FieldState*> on_shards_;
  std::unordered_map<const analysis::FieldState*, data::IndexSpaceRef> used_;
  const char* fault_ = nullptr;
};

}  // namespace refrain::trace
