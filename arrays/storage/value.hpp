#pragma once
// What handles stand for: the elements of an array, which are in storage, or will be the result of an operation that
// waits to be launched.

#include <cstdint>

#include "refrain/arrays/dtype.hpp"
#include "refrain/arrays/layout.hpp"
#include "storage/storage.hpp"

namespace refrain::arrays::detail {

class SessionImpl;

/// One owner: the thread of the session. It lives while handles or pending operations refer to it, and outlives the
/// session only for handles.
class Value {
 public:
  SessionImpl* session = nullptr;  ///< null: it has ended
  std::uint32_t handles = 0;
  DType type = DType::float64;
  std::shared_ptr<const Tiling> tiling;  ///< null: no elements
  Storage* storage = nullptr;            ///< null: no elements, or not computed yet
  bool promised = false;                 ///< there is room for its storage, which it has not got

  // Of the window of pending operations.
  bool pending = false;  ///< it is held by the window: read or written there
  bool written = false;  ///< elements of it, or all, will be the result of a pending step

  bool lost = false;  ///< a launch that should have computed elements of it failed

  /// Of its storage.
  [[nodiscard]] std::size_t bytes() const {
    return tiling == nullptr ? 0 : static_cast<std::size_t>(tiling->elements) * size_of(type);
  }

  Value* previous = nullptr;  ///< among those of the session
  Value* next = nullptr;
};

/// Gives an array with elements the storage that it was promised.
void store(Value& value, Pool& pool, const Where& where);

}  // namespace refrain::arrays::detail
