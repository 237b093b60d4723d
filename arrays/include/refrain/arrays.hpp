#pragma once
// refrain::arrays: NumPy's arrays in C++, on top of Refrain. A program sees arrays and never the tasks that compute
// them.

#include "refrain/arrays/arranging.hpp"
#include "refrain/arrays/array.hpp"
#include "refrain/arrays/elements.hpp"
#include "refrain/arrays/linear.hpp"
#include "refrain/arrays/reductions.hpp"
#include "refrain/arrays/session.hpp"
#include "refrain/runtime.hpp"
