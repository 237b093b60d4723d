#pragma once
// What the run-time API may be given in place of a field: nothing.

#include <string>

#include "refrain/error.hpp"
#include "refrain/field.hpp"

namespace refrain::runtime {

/// UsageError, with `who` before it, unless the field has a type.
inline void check_field(const AnyField& field, const std::string& who) {
  if (field.type == nullptr)
    throw UsageError(who + ": field '" + std::string(field.name) + "' has no type");
}

}  // namespace refrain::runtime
