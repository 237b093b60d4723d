#pragma once
// What the programs of trace tests are made of: eight cells with three fields, tasks that read and write
// them where the mapper says, and a look at the values in the end.

#include <vector>

#include "refrain/refrain.hpp"

namespace refrain::test::programs {

inline constexpr Field<double> a{"a"}, b{"b"}, c{"c"};

inline constexpr auto accumulate = [](ReadWrite<double> y, Read<double> x) {
  for (auto p : y.domain()) y[p] = 0.5 * y[p] + x[p] + 1;
};
inline const Task add{"add", accumulate};
inline const Task add_0{"add on 0", on<ProcessorKind::gpu>(accumulate)};
inline const Task add_1{"add on 1", on<ProcessorKind::gpu>(accumulate)};

inline constexpr auto assign = [](Write<double> x, double value) {
  for (auto p : x.domain()) x[p] = value + static_cast<double>(p);
};
inline const Task set{"set", assign};
inline const Task set_0{"set on 0", on<ProcessorKind::gpu>(assign)};
inline const Task set_1{"set on 1", on<ProcessorKind::gpu>(assign)};

inline const Task scale{"scale", [](ReadWrite<double> x, double by) {
                          for (auto p : x.domain()) x[p] *= by;
                        }};
inline const Task sum{"sum", [](Read<double> x) {
                        double total = 0;
                        for (auto p : x.domain()) total += x[p];
                        return total;
                      }};

/// The fields a, b and c have the same value everywhere.
inline Region<1> make_cells(Context& ctx, double value = 0) {
  const auto cells = ctx.region(Rect1{0, 7}, a, b, c);
  for (const auto& field : {a, b, c}) ctx.fill(cells, field, value);
  return cells;
}

inline std::vector<double> values(Context& ctx, const Region<1>& cells,
                                  const Field<double>& field) {
  std::vector<double> found;
  const auto access = ctx.access<Read>(cells[field]);
  for (auto p : access.domain()) found.push_back(access[p]);
  return found;
}

/// What the tasks return, in this order.
inline std::vector<double> values(const std::vector<Future<double>>& futures) {
  std::vector<double> found;
  found.reserve(futures.size());
  for (const Future<double>& one : futures) found.push_back(one.get());
  return found;
}

}  // namespace refrain::test::programs
