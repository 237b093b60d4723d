#include "launch/signature.hpp"

#include "base/hash.hpp"
#include "data/forest.hpp"
#include "data/region_tree.hpp"

namespace refrain::runtime {

void Signature::add(std::string_view name) { add(hash_bytes(name.data(), name.size())); }

void Signature::add(const AnyRegion& region) {
  add(static_cast<std::uint64_t>(region.tree->forest().depth()));
  add(std::uint64_t{region.tree->slot()} << 32 | region.node);
}

void Signature::add(const AnyPartition& partition) {
  add(static_cast<std::uint64_t>(partition.tree->forest().depth()) | std::uint64_t{1} << 63);
  add(std::uint64_t{partition.tree->slot()} << 32 | partition.index);
}

void Signature::add(const AnyField& field) {
  add(field.key);
  add(field.type->name);
}

std::uint64_t Signature::token() const {
  return hash_bytes(words_.data(), words_.size() * sizeof(std::uint64_t));
}

}  // namespace refrain::runtime
