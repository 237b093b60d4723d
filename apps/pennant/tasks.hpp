#pragma once
// The tasks: the kernels on the pieces of a chunk.

#include "../common/progress.hpp"
#include "pieces.hpp"

namespace pennant::tasks {

using refrain::Read;
using refrain::ReadWrite;
using refrain::Write;

struct Predict {
  Limits operator()(Read<Index> point, Read<double> mass_fraction, Write<Vec2> force,
                    Write<Corner> corner, Read<Index> zone_sides, ReadWrite<double, 2> gas,
                    Read<Vec2> position, Read<Vec2> velocity, const Step& step) const;
  Gas gas_constants;
};

struct MovePoints {
  void operator()(ReadWrite<Vec2> position, ReadWrite<Vec2> velocity, Write<Vec2> velocity_sum,
                  Write<double> radius, Read<PointRole> role, Read<Index> corner_side,
                  Read<Corner> corner, const Step& step) const;
};

struct Correct {
  Limits operator()(Read<Index> point, Read<Vec2> force, Read<Index> zone_sides,
                    ReadWrite<double, 2> gas, Read<Vec2> position, Read<Vec2> velocity_sum,
                    Read<double> radius, const Step& step) const;
};

/// From the limits of the predictor and of the corrector of the cycle before.
struct NextStep {
  Step operator()(const Step& last, const Limits& middle, const Limits& end) const;
  TimeControl control;
  apps::Progress* progress;
};

}  // namespace pennant::tasks
