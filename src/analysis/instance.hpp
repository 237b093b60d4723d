#pragma once
// An instance: storage for one field over a set of points in one memory, with an affine layout. The same points can
// be valid in several instances at once.
//
// Owner: the thread of the context that made it. Running operations only read zero and stride, which never change.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/box_index.hpp"
#include "data/index_space.hpp"
#include "graph/node.hpp"
#include "memory/mover.hpp"
#include "refrain/accessor.hpp"
#include "refrain/machine.hpp"
#include "refrain/mapper.hpp"

namespace refrain::analysis {

class FieldState;

/// Who owns an instance's bytes.
enum class Storage : std::uint8_t {
  pool,      ///< the memory's pool
  attached,  ///< the program's memory, between attach and detach
  borrowed,  ///< the parent task's argument, seen from a nested context
  none,      ///< a recording's name for an instance that each replay has of its own
};

/// The placement never changes.
struct Instance : refrain::detail::Placement {
  FieldState* field = nullptr;
  data::IndexSpaceRef space;  ///< the points it has room for
  MemoryId memory = 0;
  Layout layout;
  Storage storage = Storage::pool;
  const memory::Mover* mover = &memory::cpu_mover();  ///< its memory's
  void* bytes = nullptr;                              ///< what the pool gave
  std::size_t size = 0;                               ///< of it
  std::uint32_t number = 0;  ///< order of creation within its field, from 0
  std::size_t position = 0;  ///< its place in InstanceStore::in_memory; a name's in Recording::own
  std::uint64_t last_use = 0;    ///< number of the last point task that used it (for eviction)
  std::uint64_t serial = 0;      ///< order of creation within its store
  std::uint64_t queued_use = 0;  ///< what last_use was when InstanceStore last looked
  /// Operations with an argument here that has no points. No equivalence set knows them, but they refer to the
  /// instance.
  std::vector<exec::NodeRef> empty_users;
  /// Borrowed from a parent that reduces: the contributions of its children go here, and there are no bytes.
  refrain::detail::Accumulator* accumulator = nullptr;
  std::string made_by;  ///< task and source line, for messages about full memories
  /// Of a name: the instance that the present replay has for it, or null. Of an instance whose making is being
  /// recorded: its name.
  Instance* bound_to = nullptr;
};

/// The instance that a recording's instance stands for now: null if that one is not alive.
constexpr auto present = []<class T>(T* instance) -> T* {
  return instance->storage == Storage::none ? instance->bound_to : instance;
};

/// The instances of one field, by the points they have room for. Instances of the whole field are few and stand in a
/// list; the others are in an index of their boxes. So finding one among n costs O(log n), and a look at each that has
/// room for one and the same point. Owner: the field state.
class InstanceSet {
 public:
  explicit InstanceSet(const data::IndexSpaceRef& field) : field_(field) {}

  /// The instance to use for these points in this memory: one outside the pool, or the first made with this order of
  /// dimensions; null when none contains the points.
  [[nodiscard]] Instance* find(const data::IndexSpaceRef& points, MemoryId memory,
                               Order order) const;
  Instance& add(std::unique_ptr<Instance> instance);
  std::unique_ptr<Instance> remove(Instance& instance);
  /// In order of creation.
  [[nodiscard]] const std::vector<std::unique_ptr<Instance>>& all() const { return all_; }
  /// Numbers begin anew. There must be none.
  void reset() { next_ = 0; }

 private:
  [[nodiscard]] std::vector<Instance*> around(const data::IndexSpaceRef& points) const;

  const data::IndexSpaceRef& field_;  ///< all points
  std::vector<std::unique_ptr<Instance>> all_;
  std::vector<Instance*> whole_;  ///< those of all points
  data::BoxIndex<Instance> others_;
  std::uint32_t next_ = 0;
};

}  // namespace refrain::analysis
