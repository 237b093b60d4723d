#include "launch/signature.hpp"

#include "base/hash.hpp"
#include "data/region_tree.hpp"

namespace refrain::runtime {

void Signature::add(std::string_view name) { add(hash_bytes(name.data(), name.size())); }

void Signature::add(const AnyRegion& region) {
  add(static_cast<std::uint64_t>(region.tree->forest().depth()) << 32 | region.tree->slot());
  add(region.tree->name_word(region));
}

void Signature::add(const AnyPartition& partition) {
  add(static_cast<std::uint64_t>(partition.tree->forest().depth()) << 32 | partition.tree->slot() |
      std::uint64_t{1} << 63);
  add(partition.tree->name_word(partition));
}

void Signature::add(const AnyField& field) {
  add(field.key);
  add(field.type->name);
}

std::uint64_t Signature::token() const {
  return hash_bytes(words_.data(), words_.size() * sizeof(std::uint64_t));
}

}  // namespace refrain::runtime
