#pragma once
// The tasks: the kernels on the pieces of a chunk.

#include "../common/progress.hpp"
#include "pieces.hpp"

namespace pennant::tasks {

using refrain::Fields;
using refrain::Read;
using refrain::ReadWrite;
using refrain::Write;

struct Predict {
  using OfSides = Fields<Read<Index>, Read<double>, Write<Vec2>, Write<Corner>>;
  Limits operator()(const OfSides& sides, Read<Index> zone_sides, ReadWrite<double, 2> gas,
                    const Fields<Read<Vec2>, Read<Vec2>>& points, const Step& step) const;
  Gas gas_constants;
};

struct MovePoints {
  using OfPoints =
      Fields<ReadWrite<Vec2>, ReadWrite<Vec2>, Write<Vec2>, Write<double>, Read<PointRole>>;
  void operator()(const OfPoints& points, Read<Index> corner_side, Read<Corner> corner,
                  const Step& step) const;
};

struct Correct {
  using OfPoints = Fields<Read<Vec2>, Read<Vec2>, Read<double>>;
  Limits operator()(const Fields<Read<Index>, Read<Vec2>>& sides, Read<Index> zone_sides,
                    ReadWrite<double, 2> gas, const OfPoints& points, const Step& step) const;
};

/// From the limits of the predictor and of the corrector of the cycle before.
struct NextStep {
  Step operator()(const Step& last, const Limits& middle, const Limits& end) const;
  TimeControl control;
  apps::Progress* progress;
};

}  // namespace pennant::tasks
