#include "storage/value.hpp"

#include "check.hpp"

namespace refrain::arrays::detail {

void store(Value& value, Pool& pool, const Where& where) {
  REFRAIN_ARRAYS_CHECK(value.promised, "what is stored was promised its room");
  value.storage = &pool.take(value.tiling, value.type, where);
  value.promised = false;
}

}  // namespace refrain::arrays::detail
