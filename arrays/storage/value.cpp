#include "storage/value.hpp"

#include <string>

namespace refrain::arrays::detail {

void store(Value& value, Pool& pool, const Where& where) {
  if (!value.promised && !pool.promise(value.bytes()))
    throw OutOfMemory("no room for " + std::to_string(value.bytes()) +
                      " bytes beside other arrays");
  value.promised = false;
  value.storage = &pool.take(value.tiling, value.type, where);
}

}  // namespace refrain::arrays::detail
