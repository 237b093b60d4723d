#pragma once
// The mapper that `--refrain:mapper` names.

#include <memory>
#include <string>

#include "refrain/mapper.hpp"

namespace refrain::mapping {

/// "default": the default rules (mapping/default_mapper.hpp). Throws InputError for anything else.
std::unique_ptr<Mapper> make_mapper(const std::string& name);

}  // namespace refrain::mapping
