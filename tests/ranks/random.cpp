// Random programs, each run by all ranks, which observe what the interpreter says: ranks_random FIRST COUNT, seeds from
// FIRST on. One after the other in one process, with the settings that the seed decides.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/generate.hpp"
#include "support/mapping_rule.hpp"
#include "support/random.hpp"
#include "support/runner.hpp"
#include "support/some_tracing.hpp"

namespace refrain::test {
namespace {

/// What is wrong; empty: nothing.
std::string try_seed(std::uint64_t seed) {
  std::vector<Observation> expected;
  const Program program = resolve(generate(seed), &expected);
  Options options;
  options.machine = "emulated:cpus=4,gpus=1";
  options.workers = static_cast<int>(mix(seed, 1) % 3);
  if (mix(seed, 2) % 3 == 0) options.window = 1 + mix(seed, 3) % 5;
  options.check_determinism = mix(seed, 4) % 40;
  options.check = mix(seed, 5) % 3 == 0;
  set_tracing(options, seed, 0);  // ranks are started alike
  Runtime runtime(options);
  const MappingRule rule(runtime.machine(), MappingRule::Style::spread, seed);
  runtime.set_mapper(rule.mapper(seed % 3 == 0));
  return compare(program, expected, execute(runtime, program));
}

}  // namespace
}  // namespace refrain::test

int main(int argc, char** argv) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  bool right = true;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string wrong = refrain::test::try_seed(seed);
    if (wrong.empty()) continue;
    std::fprintf(stderr, "seed %llu, rank %u of %u: %s\n", static_cast<unsigned long long>(seed),
                 refrain::processes().rank, refrain::processes().ranks, wrong.c_str());
    right = false;
  }
  if (right && refrain::processes().rank == 0)
    std::printf("%llu programs on %u ranks\n", static_cast<unsigned long long>(count),
                refrain::processes().ranks);
  return right ? 0 : 1;
}
