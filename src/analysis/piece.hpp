#pragma once
// Pieces: the largest sets of points of a field that no launch so far has told apart. All points of a
// piece have the same state, so the state is kept once: who wrote each instance last, who has read it
// since, which instances are valid, and whether a fill is pending. This is the state of the naive
// analysis (per point, field and instance) with equal points put together; the rules that change it are
// R1, R2 and W of the dynamic tracing paper (IV.A), see analysis/analysis.hpp.

#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/cell_index.hpp"
#include "analysis/fold_group.hpp"
#include "analysis/instance.hpp"
#include "analysis/mark.hpp"
#include "base/boxed.hpp"
#include "data/index_space.hpp"
#include "graph/node.hpp"
#include "refrain/future.hpp"

namespace refrain::analysis {

struct Footprint;

/// A fill that has not been carried out everywhere yet. Shared with the operations that do.
struct FillValue {
  std::vector<std::byte> bytes;  ///< one value; unused with a future
  AnyFuture future;              ///< the value's origin, if it is a future
  exec::NodeRef producer;        ///< of the future
};

/// How one instance stands at one piece.
struct Use {
  Instance* instance = nullptr;
  exec::NodeRef writer;                                      ///< the operation that wrote it last
  boost::container::small_vector<exec::NodeRef, 2> readers;  ///< since then
  Boxed<FoldGroup> group;  ///< relaxed folds wrote it last, then `writer` is empty
  bool valid = false;      ///< it holds the latest values

  /// Calls visit(operation) for each whose failure the data carries, or will in a fold that joins `group`.
  template <class Visit>
  void for_each_writer(Visit visit) const {
    if (writer) visit(writer);
    if (!group) return;
    for (const exec::NodeRef& fold : group->folds) visit(fold);
    for (const exec::Edge& edge : group->before)
      if (edge.kind == exec::EdgeKind::data) visit(edge.from);
  }
};

struct Piece {
  std::uint32_t number = 0;    ///< in order of creation within the field
  std::uint32_t cut_from = 0;  ///< number of the piece whose state it took over when it was made
  Cells cells;                 ///< what it consists of
  data::IndexSpaceRef
      points;  ///< the same as a set, when somebody has asked (FieldState::points_of)
  boost::container::small_vector<Use, 1> uses;
  std::shared_ptr<const FillValue> fill;  ///< pending: valid everywhere, nowhere materialised yet
  std::vector<Footprint*> footprints;     ///< the regions that contain it
  Mark mark;                              ///< of who records it

  /// The state of an instance here, null if it was never used here.
  [[nodiscard]] Use* find(const Instance* instance) {
    for (Use& use : uses)
      if (use.instance == instance) return &use;
    return nullptr;
  }
  /// The same, made when missing. Mostly there is one, or the one wanted is the oldest.
  Use& at(Instance* instance) {
    if (!uses.empty() && uses.front().instance == instance) [[likely]]
      return uses.front();
    return find_or_add(instance);
  }
  Use& find_or_add(Instance* instance);
  /// Rule W: `use` becomes the only valid one, and no fill is pending.
  void only_valid(Use& use) {
    if (uses.size() > 1) [[unlikely]]
      for (Use& other : uses) other.valid = false;
    use.valid = true;
    if (fill) [[unlikely]]
      fill.reset();
  }
};

/// What one region consists of, for one field. Exact while it is not dormant: splitting a piece updates the
/// footprints that contain it.
struct Footprint
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  explicit Footprint(data::IndexSpaceRef set) : points(std::move(set)) {}

  data::IndexSpaceRef points;
  std::vector<Piece*> pieces;  ///< none while it is dormant
  std::uint64_t passing = 0;   ///< asked for in passing only: when last; otherwise 0
  std::uint32_t used = 0;      ///< FieldState::tidied() when it was last asked for
  bool dormant = true;         ///< nobody has used it for long: it tells no pieces apart
};

}  // namespace refrain::analysis
