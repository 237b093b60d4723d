#pragma once
// A call that makes a partition: its handles are checked, and what is wrong is told with its name, its place and the
// region. Where the pieces cannot be had, or cannot be a partition, nothing has happened.

#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "data/region_tree.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

class PartitionCall {
 public:
  using Pieces = ContextImpl::Pieces;
  using Operands = decltype(CallIdentity::parts);

  PartitionCall(ContextImpl& context, const char* name, Where where)
      : context_(context),
        name_(name),
        where_(where),
        who_(std::string(name) + " at " + to_string(where)) {}

  /// "halo at main.cpp:12", for the beginning of a message.
  [[nodiscard]] const std::string& who() const { return who_; }

  /// The points of a region that is alive, and a partition that is alive.
  const data::IndexSpaceRef& points_of(const AnyRegion& region) const {
    context_.check_usable(region, who().c_str());
    return region.tree->node(region.node).space;
  }
  const data::PartitionNode& node_of(const AnyPartition& partition) const {
    context_.check_usable(partition, who().c_str());
    return partition.tree->partition(partition.index);
  }
  AnyRegion parent_of(const AnyPartition& partition) const {
    return partition.tree->handle(node_of(partition).parent);
  }
  std::vector<data::IndexSpaceRef> pieces_of(const AnyPartition& partition) const {
    const data::PartitionNode& node = node_of(partition);
    std::vector<data::IndexSpaceRef> pieces;
    for (std::uint32_t i = 0; i < node.pieces(); ++i)
      pieces.push_back(partition.tree->node(node.first_child + i).space);
    return pieces;
  }

  /// The result of f(). An error in the numbers that f was given is told with the call and the region, and so is that
  /// there is no memory for so many pieces.
  template <class F>
  auto telling(const AnyRegion& region, F&& f) const {
    const auto about = [&] { return who() + ", of " + region.name() + ": "; };
    try {
      return f();
    } catch (const UsageError& error) {
      throw UsageError(about() + error.what());
    } catch (const OutOfMemory& error) {
      throw OutOfMemory(about() + error.what());
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(about() + "no memory for so many pieces");
    } catch (const std::length_error&) {
      throw OutOfMemory(about() + "no memory for so many pieces");
    }
  }
  /// A partition of the region, whose pieces f() computes from these operands.
  template <class F>
  AnyPartition make(const AnyRegion& region, const char* kind, Operands operands, F&& f) const {
    const ContextImpl::Place place = context_.place_of(region, who().c_str());
    operands.insert(operands.begin(), &region);
    Pieces pieces = telling(region, [&] {
      Pieces computed = f();
      context_.check_pieces(place, computed);
      return computed;
    });
    context_.note_making({CallKind::partition, where_, std::move(operands), name_});
    return place.tree->make_partition(place.node, std::move(pieces.colours),
                                      std::move(pieces.spaces), kind);
  }

  /// The program reads the field, for as long as the access is there.
  std::uint64_t begin_access(const AnyRegion& region, const AnyField& field,
                             PhysicalArgument& physical) const {
    return context_.begin_access(region, field, Privilege::read, physical, where_, name_);
  }
  void end_access(std::uint64_t ticket) const { context_.end_access(ticket); }

 private:
  ContextImpl& context_;
  const char* const name_;
  const Where where_;
  const std::string who_;
};

/// Makes the call of the program: body(call).
template <class Body>
AnyPartition call_for_partition(ContextImpl& context, const char* name, Where where, Body&& body) {
  return context.make_call(name, where, [&] { return body(PartitionCall(context, name, where)); });
}

}  // namespace refrain::runtime
