#pragma once
// The analysis state of one field of one region tree, in one context: the equivalence sets, the footprints of the
// regions used so far, and the instances.
//
// Splitting. The first use of a region splits the equivalence sets that it covers in part, so that every region used
// is a union of whole equivalence sets: its footprint. The cost is that of the boxes of the region and of the cells that
// it meets, however many equivalence sets there are; for a field that is split as another one of its region was before, it
// is that of the equivalence sets (subdivision.hpp). Later launches on the same region walk the footprint and need no set
// algebra.
//
// Dormant footprints bound memory. Of n sets that overlap, each may consist of n equivalence sets. An *entry* is an
// equivalence set in a footprint. When the number of entries has doubled since the last `tidy`, footprints that were
// not used in between become dormant: they name no equivalence sets, and equivalence sets that they alone told apart
// come together. The next use of a dormant footprint cuts it out as for the first time (`wake`). If half of the
// dormant ones are used again, the program uses its sets by turns: then none become dormant, and the bound is doubled.
// So there are at most four times as many entries as are in use, or `least_entries`; and a program that makes new sets
// for ever pays the same for each.
//
// Owner: the context's thread.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/equivalence_set.hpp"
#include "analysis/extent.hpp"
#include "analysis/set_runs.hpp"
#include "analysis/subdivision.hpp"
#include "data/region_tree.hpp"

namespace refrain::analysis {

class alignas(64) FieldState {
 public:
  /// All points start with a pending fill of zero bytes. Other fields may share the subdivision, which begins as one part.
  /// `tree`: the field's tree, for messages.
  FieldState(std::shared_ptr<Subdivision> subdivision, const ValueType& type,
             std::string field_name, const data::RegionTree* tree = nullptr);
  /// With a subdivision of its own.
  FieldState(data::IndexSpaceRef space, const ValueType& type, std::string field_name,
             const data::RegionTree* tree = nullptr)
      : FieldState(std::make_shared<Subdivision>(std::move(space)), type, std::move(field_name),
                   tree) {}
  FieldState(const FieldState&) = delete;

  /// The footprint of a set of points, made when missing. It is *passing* until it is asked for as a region's: so far only
  /// copies have used it.
  Footprint& footprint(const data::IndexSpaceRef& points, bool passing = false);
  /// Makes the footprints of disjoint sets that are missing: quicker than one by one.
  void add_footprints(std::span<const data::IndexSpaceRef> disjoint);
  /// Whether there are so many passing footprints that it is time to forget them.
  [[nodiscard]] bool crowded() const { return passing_ > kPassing + footprints_.size() / 2; }

  /// Makes a dormant footprint whole. To be called before a footprint is walked that was found earlier.
  void wake(Footprint& footprint);
  /// Whether the footprints name so many equivalence sets that it is time for tidy().
  [[nodiscard]] bool overgrown() const { return entries_ > most_entries_; }
  /// Lets footprints become dormant that were not used since the last tidy(). Equivalence sets may go, as in
  /// forget_footprints; footprints keep their addresses.
  void tidy();
  /// Equivalence sets that footprints name, summed over all.
  [[nodiscard]] std::size_t entries() const { return entries_; }
  /// Up to so many there is no tidying. Tests lower it, while nothing runs.
  static inline std::size_t least_entries = std::size_t{1} << 13;
  /// The equivalence sets that share points with a set, in order of creation.
  [[nodiscard]] std::vector<EquivalenceSet*> sets_meeting(const data::IndexSpaceRef& points);
  /// The equivalence set's points as a set.
  const data::IndexSpaceRef& points_of(EquivalenceSet& set) const;
  /// Forgets unwanted footprints, and puts equivalence sets together that no footprint tells apart any more. No pointer
  /// to such a footprint, or to an equivalence set, may be used afterwards.
  void forget_footprints(const std::function<bool(const Footprint&)>& unwanted);
  /// By points.
  [[nodiscard]] const auto& footprints() const { return footprints_; }

  [[nodiscard]] const data::IndexSpaceRef& space() const { return subdivision_.space(); }
  /// What instances of the whole field (Extent::whole) have room for: all points, unless it is known which are used.
  [[nodiscard]] const data::IndexSpaceRef& extent() const {
    return used_ != nullptr ? used_->points() : space();
  }
  /// Null: all. It lives as long as it is set.
  void set_used(UsedExtent* used) { used_ = used; }
  [[nodiscard]] UsedExtent* used() const { return used_; }
  [[nodiscard]] const ValueType& type() const { return type_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The field's tree; null if it was not given.
  [[nodiscard]] const data::RegionTree* tree() const { return tree_; }
  /// "field 'voltage' of region 3".
  [[nodiscard]] std::string describe() const;
  /// Each with its own state. In order of creation.
  [[nodiscard]] const std::vector<std::unique_ptr<EquivalenceSet>>& sets() {
    runs_.end();
    return sets_;
  }
  /// How footprints are walked.
  [[nodiscard]] SetRuns& runs() { return runs_; }
  template <class F>
  void for_each_awake(F&& f) {
    std::ranges::for_each(awake_, f);
  }
  /// What its points are divided into; boxes of other fields' cuts included.
  [[nodiscard]] const SubdivisionView& subdivision() const { return subdivision_; }

  /// The number that the next equivalence set will have. Changes whenever equivalence sets are cut or put together.
  [[nodiscard]] std::uint32_t next_set() const { return next_set_; }

  /// The instances alive.
  [[nodiscard]] const InstanceSet& instances() const { return instances_; }
  Instance& add_instance(std::unique_ptr<Instance> instance);
  /// Changes when an earlier choice of instance might come out differently now: an instance has gone, one outside the
  /// pool has come, or any has come after second_best().
  [[nodiscard]] std::uint32_t instance_epoch() const { return instance_epoch_; }
  /// An instance was chosen in another memory than the first asked for.
  void second_best() { second_best_ = true; }
  /// Takes the instance out of all equivalence sets, and appends the operations that may still use it to `users`. The
  /// caller releases the storage once they are complete.
  std::unique_ptr<Instance> remove_instance(Instance& instance, std::vector<exec::NodeRef>& users);

  /// Complete readers order nothing any more, but a log wants the edges from them.
  void forget_complete_readers();

  /// As new: a pending fill of zeros everywhere, no writers and no readers. Equivalence sets and footprints stay.
  void reset();

  /// Breaks when an invariant does: equivalence sets disjoint and complete, footprints exact. Slow; for tests.
  void check_invariants() const;

  RecorderNote recorded;
  /// Who has which data on all shards, as control replication knows it; equal states are one object. Null: as in the
  /// beginning. It changes by Analysis::share.
  std::shared_ptr<const void> on_shards;

 private:
  static constexpr std::size_t kPassing = 64;

  void name_sets(Footprint& footprint, const SubdivisionView::Parts& parts);
  void leave_sets(Footprint& footprint);
  EquivalenceSet& add_set();
  void split(EquivalenceSet& set);
  [[nodiscard]] SubdivisionView::Parts all_parts() const;
  SubdivisionView::Parts cut_out(const data::IndexSpaceRef& points);
  Subdivision::Covered cut_out(Subdivision::Sets sets);
  void coalesce();

  UsedExtent* used_ = nullptr;
  ValueType type_;
  std::string name_;
  const data::RegionTree* tree_;
  std::shared_ptr<const FillValue> zeros_;
  SubdivisionView subdivision_;
  std::vector<std::unique_ptr<EquivalenceSet>> sets_;  ///< of its parts, in order of creation
  std::uint32_t next_set_ = 0;
  std::unordered_map<const data::IndexSpace*, Footprint> footprints_;
  boost::intrusive::list<Footprint, boost::intrusive::constant_time_size<false>> awake_;
  std::size_t entries_ = 0;                   ///< of those awake
  std::size_t most_entries_ = least_entries;  ///< before the next tidy()
  /// Twice the footprints that have been woken since the last tidy(), less all that it sent to sleep. Not negative: at
  /// least half of them were used again.
  std::ptrdiff_t wanted_again_ = 0;
  std::uint32_t tidied_ = 0;  ///< how often tidy() has been called
  std::size_t passing_ = 0;   ///< footprints that are so
  InstanceSet instances_;
  std::uint32_t instance_epoch_ = 0;
  bool second_best_ = false;
  SetRuns runs_{*this};
};

/// The state of a region tree in the context that made it: one FieldState per field, made when the field is first used.
/// It hangs on RegionTree::state, so it lives on while the tree is dormant: a region that takes over the slot finds its
/// equivalence sets and footprints there.
class TreeState {
 public:
  /// The tree's state, made when missing.
  static TreeState& of(data::RegionTree& tree) {
    if (!tree.state) tree.state = std::make_shared<TreeState>();
    return *static_cast<TreeState*>(tree.state.get());
  }
  FieldState& field(const data::RegionTree& tree, std::uint32_t index) {
    if (fields_.size() <= index) fields_.resize(tree.fields().size());
    std::unique_ptr<FieldState>& state = fields_[index];
    if (!state) {
      const data::FieldColumn& column = tree.fields()[index];
      auto shared = subdivision_.lock();
      if (!shared) subdivision_ = shared = std::make_shared<Subdivision>(tree.space());
      state = std::make_unique<FieldState>(std::move(shared), column.type, column.name, &tree);
    }
    return *state;
  }
  /// The fields used so far.
  template <class F>
  void for_each(F&& f) {
    for (auto& state : fields_)
      if (state) f(*state);
  }

 private:
  std::vector<std::unique_ptr<FieldState>> fields_;
  std::weak_ptr<Subdivision> subdivision_;  ///< that fields begin with
};

}  // namespace refrain::analysis
