#pragma once
// The tasks: the rows of physics.hpp over the inner points of a tile. Arguments named `around` have one point
// more on each side.

#include "../common/progress.hpp"
#include "refrain/refrain.hpp"
#include "setup.hpp"

namespace s3d::tasks {

using refrain::Point;
using refrain::Read;
using refrain::ReadWrite;
using refrain::Write;

struct Start {
  void operator()(Write<double, 2> value, int quantity) const;
  Setup setup;
};
struct Diffuse {
  void operator()(Write<double, 2> rate, Read<double, 2> around) const;
};
struct React {
  void operator()(ReadWrite<double, 2> from_rate, ReadWrite<double, 2> to_rate,
                  ReadWrite<double, 2> temperature_rate, Read<double, 2> from,
                  Read<double, 2> temperature) const;
  Setup setup;
};
struct Advance {
  void operator()(ReadWrite<double, 2> value, ReadWrite<double, 2> change, Read<double, 2> rate,
                  Stage stage, double dt) const;
};
struct Filter {
  void operator()(Write<double, 2> smooth, Read<double, 2> around) const;
};
struct Accept {
  void operator()(Write<double, 2> value, Read<double, 2> smooth, Point<2> tile) const;
  apps::Progress* progress;  // the filter ends an iteration
};

}  // namespace s3d::tasks
