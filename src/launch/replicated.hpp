#pragma once
// Where a program runs on several ranks, as one shard on each (dynamic control replication), its calls are seen by all
// shards, and each analyses its own part. This is what a context asks of the layer that knows of the others
// (replication/): which part of a call is its own, and what comes before and after it.
//
// All calls are made by the context's thread, by every shard in the same order. What they throw, all shards throw; what one
// may throw alone, as for want of memory, ends the run.

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/index_space.hpp"
#include "graph/failure.hpp"
#include "graph/node.hpp"
#include "refrain/counters.hpp"
#include "refrain/dynamic.hpp"
#include "refrain/future.hpp"
#include "refrain/privilege.hpp"
#include "refrain/sharding.hpp"
#include "refrain/where.hpp"

namespace refrain::analysis {
class Exchange;
class FieldState;
class UsedExtent;
struct FoldPayload;
struct Origin;
}  // namespace refrain::analysis

namespace refrain::runtime {

struct LaunchPlan;

/// The part of a plan that says who uses which data, on all shards.
class ReplicatedPlan {
 public:
  virtual ~ReplicatedPlan() = default;
};

/// The pieces of a partition, each on one shard.
class ReplicatedPieces {
 public:
  virtual ~ReplicatedPieces() = default;
  /// The ranks of the colours whose pieces are here, but for pieces without points.
  [[nodiscard]] virtual std::vector<std::uint32_t> own() const = 0;
};

/// Where a contribution goes: a part of an argument's points, to be folded here or to be given to another shard.
struct ContributionPart {
  data::IndexSpaceRef points;
  std::uint32_t message = 0;  ///< kHere, or which message of the launch
  std::uint32_t section = 0;  ///< its place there
  static constexpr std::uint32_t kHere = ~std::uint32_t{0};
};

/// An exchange that a call makes.
struct CallExchange {
  std::shared_ptr<analysis::Exchange> exchange;
  const exec::NodeInfo* info = nullptr;
  AnyFuture makes{};  ///< whose value it settles; empty: none
  /// It comes after what makes the values that the call is given, and after the exchanges of the call before it.
  bool reads = false;
};

class Replicated {
 public:
  virtual ~Replicated() = default;

  // --- launches ---------------------------------------------------------------------------------------

  /// A single launch is about to be planned. Whether it runs here: where most of what it writes is, or else reads.
  virtual bool runs_here(const LaunchRequest& request) = 0;
  /// The points that run here. Of a single launch, as runs_here() has said.
  virtual data::IndexSpaceRef own_points(const LaunchRequest& request,
                                         const data::IndexSpaceRef& domain) = 0;
  virtual std::shared_ptr<ReplicatedPlan> plan(const LaunchPlan& plan,
                                               const LaunchRequest& request) = 0;
  /// Whether a future that a launch is given has to be sent to all shards before. UsageError: it can't be given.
  virtual bool has_to_be_sent(const refrain::detail::FutureState& future,
                              const LaunchRequest& request) const = 0;
  /// Before the own points of a launch are issued: what they read is received, what others read is sent.
  virtual void begin(LaunchPlan& plan, std::uint64_t call) = 0;
  /// Before an own point is issued: contributions to data here by other shards' points of lower rank are folded.
  virtual void fold_before(LaunchPlan& plan, std::uint64_t launch_rank) = 0;
  /// What becomes of an own point's contribution by an argument; good until the next call.
  virtual std::span<const ContributionPart> parts(std::uint32_t launch_rank,
                                                  std::size_t argument) = 0;
  /// The operation that gives a part away. As Analysis::issue_fold, of a reducer that takes no slot of the gate.
  virtual analysis::FoldPayload& give(const exec::NodeRef& reducer, const ContributionPart& part,
                                      const analysis::Origin& origin) = 0;
  /// After the last own point. `result`: the launch's future, if it has one.
  virtual void end(LaunchPlan& plan, const AnyFuture& result) = 0;
  /// The shard where the single launch runs that runs_here() was asked about last.
  [[nodiscard]] virtual std::uint32_t runs_at() const = 0;
  /// In place of begin() and end(), for a launch that is replayed.
  virtual void replayed(const LaunchPlan& plan) = 0;
  /// So much of a field of a region that a replay has made is used here.
  virtual void keep_extent(analysis::FieldState& field, const analysis::UsedExtent& used) = 0;

  // --- other calls -------------------------------------------------------------------------------------

  /// The program, which is the same everywhere, reads the points, writes them, or both.
  virtual void access(analysis::FieldState& field, const data::IndexSpaceRef& points,
                      Privilege privilege, const analysis::Origin& origin) = 0;
  /// Pieces of a region with `dim` dimensions that share no points, dealt out by their colours. UsageError where a colour
  /// gets no shard that there is.
  virtual std::shared_ptr<ReplicatedPieces> divide(int dim, const data::IndexSpaceRef& colours,
                                                   std::vector<data::IndexSpaceRef> pieces,
                                                   const Sharding& sharding) = 0;
  /// Each shard has the values of its own pieces from now on.
  virtual void attach(analysis::FieldState& field, const ReplicatedPieces& pieces) = 0;
  /// Each shard gets the values of its own pieces, and then no shard has any.
  virtual void detach(analysis::FieldState& field, const ReplicatedPieces& pieces,
                      const analysis::Origin& origin) = 0;
  /// The points to copy here: the owners of a source become the owners of its target.
  virtual data::IndexSpaceRef copy(analysis::FieldState& from, analysis::FieldState& to,
                                   const data::IndexSpaceRef& points) = 0;
  /// One value, which is on one shard, is brought to all others.
  virtual std::vector<CallExchange> send_to_all(refrain::detail::FutureState& value,
                                                const Where& where, std::uint64_t call) = 0;
  /// All values of a launch, those of other shards, too: every shard gets them. What is none of this context's is left as
  /// it is.
  virtual AnyFuture gather(refrain::detail::FutureState& values, const exec::NodeInfo& info) = 0;
  /// Whether each shard has some of the values only, and all of them reduce them together.
  [[nodiscard]] virtual bool is_spread(const refrain::detail::FutureState& values) const = 0;
  /// So they do: a shard has the result.
  virtual std::vector<CallExchange> reduce(const AnyFuture& values, const ReductionOp& op,
                                           const AnyFuture& result, const exec::NodeInfo& info,
                                           std::uint64_t call) = 0;
  /// Makes operations of exchanges. `given`: what the call is given.
  virtual void issue(std::span<const CallExchange> exchanges,
                     const refrain::detail::FutureState& given, std::uint64_t call) = 0;
  /// The first of the failures that the shards have to tell, which may be null here and there: the same on all of them.
  virtual exec::FailureRef agree(const exec::FailureRef& own, const exec::NodeInfo& info) = 0;
  /// The field's region ends: what uses the same state after it begins anew.
  virtual void forget(analysis::FieldState& field) = 0;
  /// This shard has no more use for a region, which is known by this number on all of them. Any shard may make the call, at
  /// any time; the region ends on all of them when all have made it.
  virtual void propose_end(std::uint64_t region) = 0;

  /// What has been counted so far.
  [[nodiscard]] virtual ShardCounters counters() const = 0;

  // --- errors ------------------------------------------------------------------------------------------

  /// The program ends, on every shard: waits until it is known that they have made the same calls. With an error, for the
  /// others to have one, too.
  virtual void end_program(const std::string& error, const exec::NodeInfo& info) = 0;
  /// This shard alone may have met an error. A program that goes on after it would not make the same calls as the others,
  /// so all ranks end.
  [[noreturn]] virtual void end_run(const std::exception_ptr& error) noexcept = 0;
};

}  // namespace refrain::runtime
