#pragma once
// An instance: storage for one field over a set of points in one memory, with an affine layout. A piece
// of a region can be valid in several instances at once.
//
// Owner: the context that made it. Running operations only read zero and stride, which never change.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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
  std::size_t live_index =
      0;  ///< its place in InstanceStore::in_memory; a name's in Recording::own
  std::uint64_t last_use = 0;    ///< number of the last point task that used it (for eviction)
  std::uint64_t serial = 0;      ///< order of creation within its store
  std::uint64_t queued_use = 0;  ///< what last_use was when InstanceStore last looked
  /// Operations with an argument here that has no points: no piece knows them, but they look at this.
  std::vector<exec::NodeRef> lookers;
  /// Borrowed from a parent that reduces: what its children contribute goes here, and there are no bytes.
  refrain::detail::Accumulator* accumulator = nullptr;
  std::string made_by;  ///< task and source line, for messages about full memories
  /// Of a name: the instance that the present replay has for it, or null. Of an instance whose making is being
  /// recorded: its name.
  Instance* counterpart = nullptr;
};

/// What a recording's instance is now: null, if it is a name for one that is not alive.
constexpr auto present = []<class T>(T* instance) -> T* {
  return instance->storage == Storage::none ? instance->counterpart : instance;
};

}  // namespace refrain::analysis
