#pragma once
// A launch as it was described, to tell at once that the next one is the same. Where this says so, the
// launches have one key (ContextImpl::make_key), and all that they name is alive; where it does not, the key
// has to be asked. What is compared lies together, in the order in which it is looked at: a program that
// replays a long trace reads it once per launch.

#include <bit>
#include <cstdint>
#include <memory>
#include <source_location>

#include "data/forest.hpp"
#include "refrain/dynamic.hpp"

namespace refrain::runtime {

/// A requirement; its projection is kept alive by the plan of the launch.
struct RememberedArgument {
  AnyRegion region;  ///< or the partition, in the same words
  std::uint64_t field = 0;
  const char* field_name = nullptr;
  const ValueType* type = nullptr;
  const ReductionOp* op = nullptr;
  const void* projection = nullptr;
  bool partitioned = false, relaxed = false;
  Privilege privilege = Privilege::read;

  RememberedArgument() = default;
  explicit RememberedArgument(const Requirement& r)
      : region(named(r)),
        field(r.field.key),
        field_name(r.field.name.data()),
        type(r.field.type),
        op(r.op),
        projection(r.projection.impl()),
        partitioned(r.partition.tree != nullptr),
        relaxed(r.relaxed),
        privilege(r.privilege) {}

  [[nodiscard]] bool is(const Requirement& r) const {
    return (r.partition.tree != nullptr) == partitioned && named(r) == region &&
           r.field.key == field && r.field.name.data() == field_name && r.field.type == type &&
           r.privilege == privilege && r.op == op && r.relaxed == relaxed &&
           r.projection.impl() == projection;
  }

 private:
  static AnyRegion named(const Requirement& r) {
    return r.partition.tree == nullptr
               ? r.region
               : AnyRegion{r.partition.tree, r.partition.index, r.partition.generation};
  }
};

class RememberedLaunch {
 public:
  /// What this launch names is alive now. `arguments`: where as many as it has are kept. Nothing is
  /// remembered of one that could not be told apart by this: of a sparse domain, or a region of an
  /// enclosing context, whose end this forest does not see.
  void remember(const LaunchRequest& launch, const data::Forest& forest, std::uint64_t mapper_epoch,
                RememberedArgument* arguments) {
    known_ = false;
    if (launch.domain != nullptr && launch.domain->sparse != nullptr) return;
    arguments_ = arguments;
    for (const Requirement& r : launch.requirements) {
      if (!(r.partition.tree != nullptr ? r.partition.tree : r.region.tree)->in(forest)) return;
      *arguments++ = RememberedArgument(r);
    }
    known_ = true;
    count_ = static_cast<std::uint32_t>(launch.requirements.size());
    deaths_ = forest.deaths();
    mapper_epoch_ = mapper_epoch;
    task_ = launch.task;
    place_ = place_of(launch.where);
    priority_ = launch.hints.priority;
    inline_if_ready_ = launch.hints.inline_if_ready;
    wants_future_ = launch.wants_future;
    domain_ = launch.domain == nullptr ? nullptr : std::make_unique<LaunchDomain>(*launch.domain);
  }

  /// Of a launch without futures; its values are not looked at. While nothing dies, no handle comes to mean something
  /// else.
  [[nodiscard]] bool is(const LaunchRequest& launch, const data::Forest& forest,
                        std::uint64_t mapper_epoch) const {
    if (!known_ || launch.hints.priority != priority_ || launch.task != task_ ||
        launch.hints.inline_if_ready != inline_if_ready_ || forest.deaths() != deaths_ ||
        mapper_epoch != mapper_epoch_ || place_of(launch.where) != place_ ||
        launch.wants_future != wants_future_ || launch.requirements.size() != count_ ||
        !same_domain(launch.domain))
      return false;
    const RememberedArgument* argument = arguments_;
    for (const Requirement& r : launch.requirements)
      if (!argument++->is(r)) return false;
    return true;
  }

 private:
  /// A source location is a pointer to what the compiler has put down: the same one, the same place.
  static const void* place_of(const std::source_location& where) {
    static_assert(sizeof where == sizeof(const void*));
    return std::bit_cast<const void*>(where);
  }
  [[nodiscard]] bool same_domain(const LaunchDomain* domain) const {
    if (domain == nullptr || domain_ == nullptr) return domain == domain_.get();
    if (domain->sparse != nullptr || domain->dim != domain_->dim) return false;
    Coord differs = 0;  // without a branch for each
    for (int d = 0; d < 3; ++d)
      differs |=
          (domain->rect.lo[d] ^ domain_->rect.lo[d]) | (domain->rect.hi[d] ^ domain_->rect.hi[d]);
    return differs == 0;
  }

  bool known_ = false, inline_if_ready_ = false, wants_future_ = false;
  std::uint32_t count_ = 0;
  int priority_ = 0;
  const detail::TaskRecord* task_ = nullptr;
  std::uint64_t deaths_ = 0, mapper_epoch_ = 0;
  const void* place_ = nullptr;
  std::unique_ptr<const LaunchDomain> domain_;
  RememberedArgument* arguments_ = nullptr;
};

}  // namespace refrain::runtime
