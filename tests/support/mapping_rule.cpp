#include "support/mapping_rule.hpp"

#include <algorithm>
#include <iterator>

#include "mapping/mapping.hpp"
#include "refrain/value_type.hpp"
#include "support/random.hpp"
#include "support/some_sharding.hpp"

namespace refrain::test {

namespace {

class RuleMapper : public Mapper {
 public:
  RuleMapper(const MappingRule& rule, bool every_launch)
      : rule_(rule), every_launch_(every_launch) {}
  std::string_view name() const override { return "rule"; }
  bool every_launch() const override { return every_launch_; }

  void map(const MappingInput& input, MappingOutput& output) override {
    std::vector<std::string_view> fields;
    for (const MappingArgument& a : input.arguments) fields.push_back(a.field);
    const bool gpu = std::find(input.variants.begin(), input.variants.end(), ProcessorKind::gpu) !=
                     input.variants.end();
    const Placement placement =
        rule_.place(input.task, input.rank, input.points, gpu, fields, phase_);
    output.processor = placement.processor;
    output.arguments.resize(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Placement::Argument& argument = placement.arguments[i];
      std::vector<MemoryId>& memories = output.arguments[i].memories;
      memories = argument.others;
      memories.insert(memories.begin(), argument.memory);
      output.arguments[i].layout.extent = placement.arguments[i].extent;
      output.arguments[i].layout.order = placement.arguments[i].order;
      output.arguments[i].layout.sparse = placement.arguments[i].sparse;
      output.arguments[i].when_full = argument.when_full;
    }
  }

  Sharding sharding(const ShardingInput& launch) override {
    return some_sharding(launch.task, launch.dim, launch.bounds, rule_.seed());
  }

  void next_phase() { ++phase_; }

 private:
  MappingRule rule_;
  bool every_launch_;
  int phase_ = 0;
};

}  // namespace

Placement MappingRule::place_by_default(std::size_t rank, std::size_t points, bool gpu,
                                        std::size_t arguments) const {
  std::vector<ProcessorKind> bodies{ProcessorKind::cpu};
  if (gpu) bodies.push_back(ProcessorKind::gpu);
  const std::vector<MappingArgument> described(arguments);
  MappingInput input;
  input.points = points;
  input.rank = rank;
  input.arguments = described;
  input.variants = bodies;
  input.machine = machine_;
  MappingOutput output;
  mapping::map_by_default(input, bodies, output);
  Placement placement{output.processor, {}};
  for (const ArgumentMapping& a : output.arguments)
    placement.arguments.push_back({a.memories[0],
                                   {a.memories.begin() + 1, a.memories.end()},
                                   a.layout.extent,
                                   a.layout.order,
                                   a.layout.sparse,
                                   a.when_full});
  return placement;
}

Placement MappingRule::place(std::string_view task, std::size_t rank, std::size_t points, bool gpu,
                             const std::vector<std::string_view>& fields, int phase) const {
  if (style_ == Style::standard) return place_by_default(rank, points, gpu, fields.size());
  std::uint64_t hash = mix(seed_ + static_cast<std::uint64_t>(phase), detail::hash_name(task));
  Placement placement;
  const std::uint64_t at = mix(hash, rank);
  const bool on_gpu =
      style_ == Style::spread && gpu && machine_->has(ProcessorKind::gpu) && at % 4 != 0;
  const auto kind = machine_->processors(on_gpu ? ProcessorKind::gpu : ProcessorKind::cpu);
  placement.processor = kind[style_ == Style::spread ? at / 4 % kind.size() : 0];
  const std::vector<MemoryId>& memories = machine_->processor(placement.processor).memories;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    hash = mix(mix(at, i), detail::hash_name(fields[i]));
    Placement::Argument argument;
    argument.memory = memories[0];
    if (style_ == Style::spread) {
      if (hash % 4 == 0) argument.memory = memories[hash / 4 % memories.size()];
      // Mostly the same for all arguments of a task, so that instances are met again.
      if ((hash / 1024 % 4 == 0 ? hash / 4096 : at / 4096) % 2 == 0)
        argument.extent = Extent::exact;
      if ((hash >> 40) % 5 == 0) argument.order = refrain::Order::fortran;
      // Fields with odd numbers, which no program attaches memory to: that cannot be compact.
      if (fields[i].back() % 2 == 1 && (hash >> 50) % 3 != 0)
        argument.sparse = (hash >> 54) % 2 == 0 ? Sparse::box : Sparse::compact;
      if ((hash >> 44) % 2 == 0) argument.when_full = WhenFull::next;
    }
    std::ranges::remove_copy(memories, std::back_inserter(argument.others), argument.memory);
    placement.arguments.push_back(argument);
  }
  return placement;
}

std::unique_ptr<Mapper> MappingRule::mapper(bool every_launch) const {
  return std::make_unique<RuleMapper>(*this, every_launch);
}

void MappingRule::next_phase(Mapper& mapper) {
  if (auto* rule = dynamic_cast<RuleMapper*>(&mapper)) rule->next_phase();
  mapper.forget();
}

}  // namespace refrain::test
