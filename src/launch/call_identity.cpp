#include "launch/call_identity.hpp"

#include <string>

#include "data/projection.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

void fail_dead(const LaunchRequest& request, std::size_t i) {
  const Requirement& r = request.requirements[i];
  const std::string who = launch_name(request) + ", argument " + std::to_string(i);
  if (r.partition.tree != nullptr) data::check_alive(r.partition, who.c_str());
  data::check_alive(r.region, who.c_str());
  throw UsageError(who + " names neither a region nor a partition");
}

bool has_key(const LaunchRequest& request, const data::Forest& forest, std::uint64_t mapper_epoch,
             std::span<const std::uint64_t> key) {
  const std::uint64_t* next = key.data();
  const std::uint64_t* const end = next + key.size();
  return give_key(request, forest, mapper_epoch,
                  [&next, end](std::uint64_t w) { return next != end && *next++ == w; }) &&
         next == end;
}

std::vector<std::uint64_t> CallIdentity::key(const data::Forest& forest) const {
  const auto word = [](const void* address) { return reinterpret_cast<std::uint64_t>(address); };
  std::vector<std::uint64_t> words{static_cast<std::uint64_t>(kind), word(where.file_name()),
                                   where.line()};
  for (const auto& [region, field] : operands) {
    if (region == nullptr) break;
    words.insert(words.end(), {region->tree->key_in(forest), region->node});
    if (field != nullptr)
      words.insert(words.end(), {field->key, word(field->name.data()), word(field->type)});
  }
  // No region's end has a key as long.
  if (partition != nullptr)
    words.insert(words.end(),
                 {partition->tree->key_in(forest), partition->index, ~std::uint64_t{0}});
  if (op != nullptr) words.push_back(word(op));
  return words;
}

Signature CallIdentity::signature() const {
  Signature signature(kind);
  for (const auto& [region, field] : operands) {
    if (region == nullptr) break;
    signature.add(*region);
    if (field != nullptr) signature.add(*field);
  }
  if (partition != nullptr) signature.add(*partition);
  if (op != nullptr) {
    signature.add(op->name);
    signature.add(op->type->name);
  }
  if (privilege) signature.add(static_cast<std::uint64_t>(*privilege));
  return signature;
}

std::vector<const AnyRegion*> CallIdentity::regions() const {
  std::vector<const AnyRegion*> named;
  for (const Operand& operand : operands)
    if (operand.region != nullptr) named.push_back(operand.region);
  return named;
}

void sign(LaunchPlan& plan, const LaunchRequest& request) {
  Signature signature(Signature::Call::launch);
  signature.add(request.task->id());
  if (plan.group) signature.add(plan.domain->id());
  signature.add(static_cast<std::uint64_t>(request.hints.priority) << 1 |
                std::uint64_t{request.hints.inline_if_ready});
  signature.add(request.futures.size());
  for (const Requirement& r : request.requirements) {
    if (r.partition.tree != nullptr) signature.add(r.partition);
    else signature.add(r.region);
    signature.add(r.field);
    signature.add(static_cast<std::uint64_t>(r.privilege) | std::uint64_t{r.relaxed} << 8);
    if (r.op != nullptr) signature.add(r.op->name);
    signature.add(data::projection_id(r.projection.impl()));
  }
  // The mapping: a changed answer is another launch to whoever remembers.
  for (const PlannedPoint& point : plan.points)
    signature.add(std::uint64_t{point.processor} << 16 |
                  static_cast<std::uint16_t>(point.priority));
  for (const ArgumentMapping& mapping : plan.mappings) {
    signature.add(static_cast<std::uint64_t>(mapping.layout.order) << 8 |
                  static_cast<std::uint64_t>(mapping.layout.extent));
    for (MemoryId memory : mapping.memories) signature.add(memory);
  }
  for (const PlannedArgument& argument : plan.arguments) signature.add(argument.mapping);
  plan.token = signature.token();
  plan.signature = signature.words();
}

}  // namespace refrain::runtime
