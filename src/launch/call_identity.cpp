#include "launch/call_identity.hpp"

#include "base/hash.hpp"
#include "launch/launch_plan.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

void fail_dead(const LaunchRequest& launch, std::size_t i) {
  const Requirement& r = launch.requirements[i];
  const std::string who = argument_name(launch, i);
  if (r.partition.tree != nullptr) data::check_alive(r.partition, who.c_str());
  data::check_alive(r.region, who.c_str());
  throw UsageError(who + " names neither a region nor a partition");
}

// --- keys ----------------------------------------------------------------------------------------------

bool has_key(const LaunchRequest& launch, const data::Forest& forest, std::uint64_t mapper_epoch,
             std::span<const std::uint64_t> key) {
  const std::uint64_t* next = key.data();
  const std::uint64_t* const end = next + key.size();
  const auto is_next = [&next, end](std::uint64_t word) { return next != end && *next++ == word; };
  return visit(launch, mapper_epoch, Key(is_next, &launch, &forest)) && next == end;
}

std::pair<LaunchPart, std::size_t> part_of_key(const LaunchRequest& launch, std::size_t word) {
  Key key([&word](std::uint64_t) { return word-- > 0; }, nullptr, nullptr);
  visit(launch, 0, key);
  return key.part();
}

std::string name_in_key(data::RegionTree& tree, std::span<const std::uint64_t> words) {
  if (words[0] != tree.uid() && words[0] != reinterpret_cast<std::uintptr_t>(&tree))
    return "a region that was destroyed";
  const auto number = static_cast<std::uint32_t>(words[1] >> 32);
  return (words[1] & kPartitionInKey) != 0 ? tree.name_of_partition(number) : tree.name_of(number);
}

// --- signatures ----------------------------------------------------------------------------------------

std::uint64_t Signature::token() const {
  return hash_bytes(words_.data(), words_.size() * sizeof(std::uint64_t));
}

bool Signature::name(std::string_view name) { return number(hash_bytes(name.data(), name.size())); }

bool Signature::object(const ReductionOp* op) {
  return op == nullptr ? number(0) : name(op->name) && name(op->type->name);
}

bool Signature::domain(const LaunchDomain* domain) {
  return domain == nullptr ? number(0) : object(detail::space_of(*domain).get());
}

std::uint64_t token_of(const LaunchRequest& launch, bool with_slots) {
  Signature signature(with_slots);
  signature.number(static_cast<std::uint64_t>(CallKind::launch));
  visit(launch, 0, signature);
  return signature.token();
}

// --- the quick comparison --------------------------------------------------------------------------------

void RememberedLaunch::remember(const LaunchRequest& launch, const data::Forest& forest,
                                std::uint64_t mapper_epoch, std::uint64_t* words) {
  deaths_ = kNothing;
  const auto is_own = [&](const Requirement& r) { return tree_of(r)->in(forest); };
  if (!std::ranges::all_of(launch.requirements, is_own)) return;
  std::uint64_t* next = words;
  const auto put = [&next](std::uint64_t word) { return *next++ = word, true; };
  if (!visit(launch, mapper_epoch, Form(put))) return;
  words_ = words;
  deaths_ = forest.deaths();
}

// --- other calls ---------------------------------------------------------------------------------------

std::vector<std::uint64_t> CallIdentity::key(const data::Forest& forest) const {
  std::vector<std::uint64_t> words;
  words.reserve(24);  // mostly enough
  const auto put = [&words](std::uint64_t word) { return words.push_back(word), true; };
  visit(*this, Key(put, nullptr, &forest));
  return words;
}

std::uint64_t CallIdentity::token() const {
  Signature signature;
  if (partition_operator != nullptr) signature.name(partition_operator);
  visit(*this, signature);
  return signature.token();
}

std::vector<const AnyRegion*> CallIdentity::regions() const {
  std::vector<const AnyRegion*> named;
  for (const Part& part : parts)
    if (const auto* region = std::get_if<const AnyRegion*>(&part)) named.push_back(*region);
  return named;
}

}  // namespace refrain::runtime
