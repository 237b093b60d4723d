#pragma once
#include "refrain/machine.hpp"
namespace refrain::simulate {
struct ShimOverheads {
  double analyse = 0.5e-6, replay = 0.6e-7, run = 1.5e-7;
};
inline ShimOverheads overheads_of(const Machine&) { return {}; }
inline double flops_of(const Processor&) { return 0; }
inline std::vector<double> bandwidths_of(const Processor&) { return {}; }
inline double launch_seconds_of(const Processor&) { return 0; }
}  // namespace refrain::simulate
