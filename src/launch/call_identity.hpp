#pragma once
// The identity of a call, in three forms. The *key* finds what this process remembers of the call: addresses and unique
// numbers, compared in full. The *signature* (launch/signature.hpp) is the same in every run and every process. The
// *quick comparison* tells at once that a launch is the one before; where it cannot, the key decides.
//
// Any of them covers everything that the analysis of the call depends on, and no value that a task is given.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "data/index_space.hpp"
#include "data/region_tree.hpp"
#include "launch/launch_plan.hpp"
#include "launch/signature.hpp"
#include "refrain/dynamic.hpp"

namespace refrain::runtime {

/// UsageError: the argument names nothing that is alive.
[[noreturn]] void fail_dead(const LaunchRequest& request, std::size_t argument);

/// The key of a launch: everything that its plan depends on, as words of this process. Gives them to put(word) in
/// order, until that returns false. UsageError when a handle is dead.
template <class Put>
bool give_key(const LaunchRequest& request, const data::Forest& forest, std::uint64_t mapper_epoch,
              Put put) {
  const auto word = [](const void* address) { return reinterpret_cast<std::uint64_t>(address); };
  if (!put(word(request.task)) || !put(word(request.where.file_name())) ||
      !put(std::uint64_t{request.where.line()} << 32 |
           static_cast<std::uint32_t>(request.hints.priority)) ||
      !put(mapper_epoch) ||
      !put(request.requirements.size() << 34 | request.futures.size() << 2 |
           std::uint64_t{request.hints.inline_if_ready} << 1 | std::uint64_t{request.wants_future}))
    return false;
  if (const LaunchDomain* domain = request.domain) {
    if (!put(static_cast<std::uint64_t>(domain->dim))) return false;
    if (domain->sparse != nullptr) {
      if (!put(word(domain->sparse->space.get()))) return false;
    } else {
      for (int d = 0; d < std::min(domain->dim, 3); ++d)
        if (!put(static_cast<std::uint64_t>(domain->rect.lo[d])) ||
            !put(static_cast<std::uint64_t>(domain->rect.hi[d])))
          return false;
    }
  }
  for (std::size_t i = 0; i < request.requirements.size(); ++i) {
    const Requirement& r = request.requirements[i];
    const bool partitioned = r.partition.tree != nullptr;
    const data::RegionTree* tree = partitioned ? r.partition.tree : r.region.tree;
    // A tree of an enclosing context may have been destroyed since this task was launched: it may still
    // use what it was given.
    if (tree == nullptr ||
        !(tree->in(forest)
              ? (partitioned ? tree->names_living(r.partition) : tree->names_living(r.region))
              : (partitioned ? tree->knows(r.partition) : tree->knows(r.region)))) [[unlikely]] {
      fail_dead(request, i);
    }
    if (!put(tree->key_in(forest)) ||
        !put(std::uint64_t{partitioned ? r.partition.index : r.region.node} << 32 |
             std::uint64_t{partitioned} << 16 | std::uint64_t{r.relaxed} << 8 |
             static_cast<std::uint64_t>(r.privilege)) ||
        !put(r.field.key) || !put(word(r.field.name.data())) || !put(word(r.field.type)) ||
        !put(word(r.op)) || !put(word(r.projection.impl())))
      return false;
  }
  return true;
}

/// Whether the launch has this key.
bool has_key(const LaunchRequest& request, const data::Forest& forest, std::uint64_t mapper_epoch,
             std::span<const std::uint64_t> key);
/// What a call that is no launch names, in a fixed order.
struct CallIdentity {
  struct Operand {
    const AnyRegion* region;
    const AnyField* field = nullptr;  ///< null: the region as a whole
  };
  Signature::Call kind;
  Where where;
  std::array<Operand, 2> operands{};        ///< those that there are come first
  const AnyPartition* partition = nullptr;  ///< that the call ends
  const ReductionOp* op = nullptr;          ///< that reduces the values of a group
  std::optional<Privilege> privilege{};     ///< of an access

  [[nodiscard]] const char* name() const { return Signature::name_of(kind); }
  [[nodiscard]] std::vector<std::uint64_t> key(const data::Forest& forest) const;
  [[nodiscard]] Signature signature() const;
  [[nodiscard]] std::vector<const AnyRegion*> regions() const;
};

/// Gives the plan its signature and its token.
void sign(LaunchPlan& plan, const LaunchRequest& request);

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
    where_ = launch.where;
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
        mapper_epoch != mapper_epoch_ || launch.where != where_ ||
        launch.wants_future != wants_future_ || launch.requirements.size() != count_ ||
        !same_domain(launch.domain))
      return false;
    const RememberedArgument* argument = arguments_;
    for (const Requirement& r : launch.requirements)
      if (!argument++->is(r)) return false;
    return true;
  }

 private:
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
  Where where_;
  std::unique_ptr<const LaunchDomain> domain_;
  RememberedArgument* arguments_ = nullptr;
};

}  // namespace refrain::runtime
