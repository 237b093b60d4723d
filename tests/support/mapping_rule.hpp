#pragma once
// Where the tasks of a random program run and where their data lies: decided by a seed and what a mapper
// sees, so that the naive analysis can make the same decisions as the runtime's mapper.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "refrain/mapper.hpp"

namespace refrain::test {

struct Placement {
  ProcessorId processor = 0;
  struct Argument {
    MemoryId memory = 0;
    std::vector<MemoryId> others;  ///< should that be too small, these in turn
    Extent extent = Extent::whole;
    Order order = Order::c;
    Sparse sparse = Sparse::by_density;
    WhenFull when_full = WhenFull::evict;
  };
  std::vector<Argument> arguments;
};

class MappingRule {
 public:
  enum class Style {
    standard,  ///< the runtime's own, without a mapper
    plain,     ///< any cpu, system memory, whole instances
    spread,  ///< any processor, any memory that it reaches, whole and exact instances, any order, compact or not
  };
  MappingRule(const Machine& machine, Style style, std::uint64_t seed)
      : machine_(&machine), style_(style), seed_(seed) {}

  /// Point task `rank` of `points`. `gpu`: the task has a body for it. Fields by name, one per argument.
  /// `phase`: how often the mapper has been told to change its mind.
  [[nodiscard]] Placement place(std::string_view task, std::size_t rank, std::size_t points,
                                bool gpu, const std::vector<std::string_view>& fields,
                                int phase = 0) const;
  [[nodiscard]] const Machine& machine() const { return *machine_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// The rule as a mapper for the runtime; asked at every launch, or remembered.
  [[nodiscard]] std::unique_ptr<Mapper> mapper(bool every_launch) const;
  /// Such a mapper, or another one, forgets its answers; the former answers as in the next phase from now on.
  static void next_phase(Mapper& mapper);

 private:
  [[nodiscard]] Placement place_by_default(std::size_t rank, std::size_t points, bool gpu,
                                           std::size_t arguments) const;

  const Machine* machine_;
  Style style_;
  std::uint64_t seed_;
};

}  // namespace refrain::test
