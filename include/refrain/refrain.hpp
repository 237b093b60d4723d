#pragma once
// Everything of the public API.

#include "refrain/error.hpp"
#include "refrain/owned.hpp"
#include "refrain/random.hpp"
#include "refrain/runtime.hpp"
#include "refrain/version.hpp"
