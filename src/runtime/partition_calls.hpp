#pragma once
// What the calls that make partitions ask of their handles, which have been checked.

#include <new>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "data/region_tree.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime::partition_calls {

using data::IndexSpaceRef;

/// "halo at main.cpp:12", for the beginning of a message.
inline std::string at(const char* call, std::source_location where) {
  return std::string(call) + " at " + to_string(where);
}

[[noreturn]] inline void fail_too_many(const char* call, std::source_location where,
                                       const AnyRegion& region) {
  throw OutOfMemory(at(call, where) + ", of " + region.name() + ": no memory for so many pieces");
}

/// What f returns; what is wrong with the numbers that it was given is told with the call and the region, and
/// so is that there is no memory for so many pieces.
template <class F>
auto telling(const char* call, std::source_location where, const AnyRegion& region, F&& f) {
  try {
    return f();
  } catch (const UsageError& error) {
    throw UsageError(at(call, where) + ", of " + region.name() + ": " + error.what());
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(at(call, where) + ", of " + region.name() + ": " + error.what());
  } catch (const std::bad_alloc&) {
    fail_too_many(call, where, region);
  } catch (const std::length_error&) { fail_too_many(call, where, region); }
}

/// A partition of `region`, whose pieces f() computes. When these cannot be had or cannot be a partition, that is told
/// as above, and nothing has happened.
template <class F>
AnyPartition partition_of(const AnyRegion& region, const ContextImpl::Place& place,
                          const char* kind, ContextImpl& impl, const char* call,
                          std::source_location where, F&& f) {
  ContextImpl::Pieces pieces = telling(call, where, region, [&] {
    ContextImpl::Pieces computed = f();
    impl.check_pieces(place, computed);
    return computed;
  });
  return ContextImpl::make_partition(place, std::move(pieces), kind);
}

inline const IndexSpaceRef& points_of(const AnyRegion& region) {
  return region.tree->node(region.node).space;
}
inline const IndexSpaceRef& colours_of(const AnyPartition& partition) {
  return partition.tree->partition(partition.index).colours;
}
inline AnyRegion parent_of(const AnyPartition& partition) {
  return partition.tree->handle(partition.tree->partition(partition.index).parent);
}
inline std::vector<IndexSpaceRef> pieces_of(const AnyPartition& partition) {
  const data::PartitionNode& node = partition.tree->partition(partition.index);
  std::vector<IndexSpaceRef> pieces;
  for (std::uint32_t i = 0; i < node.pieces(); ++i)
    pieces.push_back(partition.tree->node(node.first_child + i).space);
  return pieces;
}

}  // namespace refrain::runtime::partition_calls
