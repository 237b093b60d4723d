#include "exec/seeded_executor.hpp"

namespace refrain::exec {

std::shared_ptr<Executor> make_seeded_executor(const Machine& machine,
                                               const ExecutorOptions& options, std::uint64_t seed) {
  return std::make_shared<SeededExecutor>(plan_processors(machine), options, seed);
}

}  // namespace refrain::exec
