#pragma once
// What a recording, or a prefix of it, leaves behind: for each instance at each place who wrote it last and who
// has read it since, and which instances are valid (the postcondition). From the effects alone; the
// analysis' state is not looked at.

#include <optional>
#include <utility>
#include <vector>

#include "analysis/piece.hpp"
#include "trace/recording.hpp"

namespace refrain::trace {

/// The relaxed folds that were the last to write.
struct LeftFolds {
  analysis::FoldFunction fold = nullptr;
  /// What the first of them did to what was there before the trace: StateChange::fold, if it may have joined a
  /// group; read_write; or nothing.
  std::optional<analysis::StateChange> entry;
  std::vector<std::pair<Index, exec::EdgeKind>> before;  ///< of the trace's operations
  std::vector<Index> folds;
};

/// An instance at a place, after the trace.
struct Left {
  Index place = 0;
  analysis::Instance* instance = nullptr;
  Index writer = kNone;            ///< kNone: who wrote it before the trace
  std::optional<LeftFolds> folds;  ///< instead of a writer
  std::vector<Index> readers;      ///< since; to those from before the trace if there is neither
};

/// A place after the trace.
struct LeftValid {
  Instances valid;  ///< by number
  bool pending = false;
  Index fill =
      kNone;  ///< whose value is pending: a step, or kNone for the one from before the trace
  bool changed = false;
  bool ended = false;  ///< a region ended here; the rest is of the one that came after it
};

struct Outcome {
  std::vector<Left> uses;                                    ///< by place
  std::vector<LeftValid> places;                             ///< of the recording's places
  std::vector<std::pair<analysis::Instance*, Index>> looks;  ///< at instances, by operations
};

/// After the first `effects` effects.
Outcome outcome_of(const Recording& recording, Index effects);

/// Of these, the places alone.
std::vector<LeftValid> places_after(const Recording& recording, Index effects);

/// Works out entry_uses, who uses the recording's own instances when they end, whether it is idempotent, and if
/// so the carried edges: those of the analysis when the trace is unrolled once (dynamic tracing paper, IV.F).
void find_chain_edges(Recording& recording);

}  // namespace refrain::trace
