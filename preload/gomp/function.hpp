#pragma once

namespace refrain::gomp {

/// What the compiler makes of a region.
using Function = void(void*);

}  // namespace refrain::gomp
