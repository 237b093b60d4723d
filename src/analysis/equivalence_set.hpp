#pragma once
// An equivalence set of a field: the points that no launch so far has told apart. All of them have the same state, so
// it is kept once: the use state of each instance, and the pending fill. This is the state of the naive analysis (per
// point, field and instance) with equal points put together. The rules that change it are R1, R2 and W of the dynamic
// tracing paper (IV.A), see analysis/analysis.hpp, and those of analysis/use_state.hpp.
//
// The points themselves are a part of a subdivision, which fields share (analysis/subdivision.hpp).
//
// Owner: the thread of the context.

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analysis/instance.hpp"
#include "analysis/subdivision.hpp"
#include "analysis/use_state.hpp"
#include "data/index_space.hpp"
#include "graph/node.hpp"
#include "refrain/future.hpp"

namespace refrain::detail {
/// The failure of a future that is ready, or none (launch/future_state.cpp).
const exec::FailureRef& ready_failure(const FutureState& state) noexcept;
}  // namespace refrain::detail

namespace refrain::analysis {

struct EquivalenceSet;
struct Footprint;

/// A fill that has not been carried out everywhere yet. Shared with the operations that do.
struct FillValue {
  std::vector<std::byte> bytes;  ///< one value; unused with a future
  AnyFuture future;              ///< the value's origin, if it is a future
  exec::NodeRef producer;        ///< of the future
};

using Use = UseState<exec::NodeRef>;

/// Complete readers order nothing any more.
inline void forget_complete_readers(Use& use) {
  use.readers.erase(std::remove_if(use.readers.begin(), use.readers.end(), exec::is_complete),
                    use.readers.end());
}

/// The index that a recorder has given to an equivalence set or a field, noted on the object itself: no hash table to
/// look in, and no sweep at the end, since numbers of recorders do not repeat and the notes of earlier ones are void.
struct RecorderNote {
  std::uint64_t recorder = 0;
  std::uint32_t index = 0;
};

struct alignas(64) EquivalenceSet : SetState<exec::NodeRef, std::shared_ptr<const FillValue>> {
  std::uint32_t number = 0;  ///< in order of creation within the field
  /// Number of the equivalence set whose state it took over when it was made.
  std::uint32_t cut_from = 0;
  Part part = 0;               ///< its points; its place among the sets of the field
  data::IndexSpaceRef points;  ///< once asked for (FieldState::points_of)
  /// The regions that contain it. Those of a mesh are mostly in two partitions.
  boost::container::small_vector<Footprint*, 2> footprints;
  RecorderNote recorded;

  void copy_state(const EquivalenceSet& other) { SetState::operator=(other); }
};

/// The equivalence sets of one region, for one field. Exact while it is not dormant: splitting an equivalence set
/// updates the footprints that contain it.
struct alignas(64) Footprint
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  explicit Footprint(data::IndexSpaceRef set) : points(std::move(set)) {}

  /// Unused for long: it tells no equivalence sets apart, and is in no list of those that are awake.
  [[nodiscard]] bool dormant() const { return !is_linked(); }
  [[nodiscard]] std::span<EquivalenceSet* const> all() const { return {sets.data(), sets.size()}; }

  data::IndexSpaceRef points;
  boost::container::small_vector<EquivalenceSet*, 1> sets;  ///< none while it is dormant
  std::uint32_t used = 0;  ///< FieldState::tidied_ when it was last asked for
  bool passing = false;    ///< the set is no region of the field's tree
  bool goes = false;       ///< for FieldState::forget_footprints
  bool many = false;       ///< sets, or its field has runs (analysis/set_runs.hpp)
  /// While the field has runs: the first and last positions of its sets.
  boost::container::small_vector<std::pair<std::uint32_t, std::uint32_t>, 1> intervals;
};

}  // namespace refrain::analysis
