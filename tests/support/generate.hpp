#pragma once
// Makes random plans. A plan is grown statement by statement against the world as it is then, so that
// most of what is proposed means something. The same seed and options give the same plan for ever.

#include "support/plan.hpp"

namespace refrain::test {

struct GenerateOptions {
  int statements = 20;  ///< about how many
  bool nested = true;   ///< tasks that launch tasks
  bool futures = true;
  bool reductions = true;
  bool destroy = true;
  bool by_data = true;   ///< partitions that depend on data, and fields of pointers for them
  bool attach = true;    ///< memory of the program's own
  bool failures = true;  ///< bodies that throw
  bool traces = true;    ///< marks around what repeats
  int max_dim = 3;
};

/// Options that vary with the seed: mostly short programs with everything, some long, some plain.
GenerateOptions options_for(std::uint64_t seed);

Plan generate(std::uint64_t seed, const GenerateOptions& options);
inline Plan generate(std::uint64_t seed) { return generate(seed, options_for(seed)); }

}  // namespace refrain::test
