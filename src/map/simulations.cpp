#include "map/simulations.hpp"

#include <utility>

#include "map/search_space.hpp"
#include "mapping/mapping_file.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::map {

Simulations::Simulations(const capture::Program& program, const map_search::Space& space,
                         simulate::Simulation simulation)
    : program_(program), space_(space), simulation_(std::move(simulation)) {}

map_search::Run Simulations::run(const map_search::Mapping& mapping) {
  const std::uint64_t begin = profile::now_ns();
  map_search::Run run;
  const std::string rules = mapping_file(space_, mapping, "proposed");
  simulation_.mapper = [&rules](const Machine& machine) {
    return std::make_unique<mapping::MappingFile>(rules, "the mapping", machine);
  };
  try {
    const simulate::Outcome outcome = simulate::simulate(program_, simulation_);
    run.seconds = outcome.iteration_seconds().value_or(outcome.seconds);
    run.bytes = outcome.counters.copied_bytes;
  } catch (const OutOfMemory& error) {
    run.outcome = map_search::Outcome::out_of_memory;
    run.text = error.what();
  } catch (const Error& error) {
    run.outcome = map_search::Outcome::invalid;
    run.text = error.what();
  }
  run.cost = static_cast<double>(profile::now_ns() - begin) * 1e-9;
  return run;
}

}  // namespace refrain::map
