#pragma once
// A field of whole numbers, whose results are exact, and tasks on it.

#include "refrain/refrain.hpp"

namespace refrain {

inline constexpr Field<Coord> number{"number"};

inline const Task add{"add", [](ReadWrite<Coord> x, Coord a) {
                        for (auto p : x.domain()) x[p] += a;
                      }};
inline const Task total{"total", [](Read<Coord> x) {
                          Coord sum = 0;
                          for (auto p : x.domain()) sum += x[p];
                          return sum;
                        }};

}  // namespace refrain
