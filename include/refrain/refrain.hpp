#pragma once
// Everything of the public API.

#include "refrain/runtime.hpp"
