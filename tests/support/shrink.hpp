#pragma once
// Makes a failing plan smaller while it still fails: fewer statements, then smaller launches, then
// smaller regions. Any part of a plan may go, because resolving leaves out what means nothing.

#include <functional>

#include "support/plan.hpp"

namespace refrain::test {

/// `fails` says whether a plan still shows the failure; it must be true of `plan`. Stops after `tries`
/// calls of it.
Plan shrink(Plan plan, const std::function<bool(const Plan&)>& fails, int tries = 2000);

}  // namespace refrain::test
