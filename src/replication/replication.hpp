#pragma once
// A program's context on several shards: which part of each call is this shard's, and the messages that the call makes it
// send and receive (dynamic control replication, section 4; docs/control-replication.md).
//
// Each field has a state of the shard layer (shard/layers.hpp). A launch takes its steps in this order, the same on every
// shard: reads, argument by argument; writes; reductions. What the steps say becomes operations of this shard's own
// stream (replication/transfers.hpp), so the analysis orders them like any others.
//
// Owner: the context's thread.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "launch/replicated.hpp"
#include "net/all_reduce.hpp"
#include "replication/exchanges.hpp"
#include "replication/ranks.hpp"
#include "replication/transfers.hpp"
#include "shard/traffic.hpp"

namespace refrain::replication {

class Replication final : public runtime::Replicated {
 public:
  /// `end_region`: ends one that propose_end() was called for on every shard.
  Replication(runtime::ContextCore& context, Ranks& ranks,
              std::function<void(std::uint64_t)> end_region);
  ~Replication() override { ranks_.set_running(false); }

  bool runs_here(const LaunchRequest& request) override;
  data::IndexSpaceRef own_points(const LaunchRequest& request,
                                 const data::IndexSpaceRef& domain) override;
  std::shared_ptr<runtime::ReplicatedPlan> plan(const runtime::LaunchPlan& plan,
                                                const LaunchRequest& request) override;
  [[nodiscard]] bool has_to_be_sent(const refrain::detail::FutureState& future,
                                    const LaunchRequest& request) const override;
  void begin(runtime::LaunchPlan& plan, std::uint64_t call) override;
  void fold_before(runtime::LaunchPlan& plan, std::uint64_t launch_rank) override;
  std::span<const runtime::ContributionPart> parts(std::uint32_t launch_rank,
                                                   std::size_t argument) override;
  analysis::FoldPayload& give(const exec::NodeRef& reducer, const runtime::ContributionPart& part,
                              const analysis::Origin& origin) override;
  void end(runtime::LaunchPlan& plan, const AnyFuture& result) override;
  [[nodiscard]] std::uint32_t runs_at() const override { return runs_at_; }
  void replayed(const runtime::LaunchPlan& plan) override;
  void keep_extent(analysis::FieldState& field, const analysis::UsedExtent& used) override;
  void access(analysis::FieldState& field, const data::IndexSpaceRef& points, Privilege privilege,
              const analysis::Origin& origin) override;
  std::shared_ptr<runtime::ReplicatedPieces> divide(int dim, const data::IndexSpaceRef& colours,
                                                    std::vector<data::IndexSpaceRef> pieces,
                                                    const Sharding& sharding) override;
  void attach(analysis::FieldState& field, const runtime::ReplicatedPieces& pieces) override;
  void detach(analysis::FieldState& field, const runtime::ReplicatedPieces& pieces,
              const analysis::Origin& origin) override;
  data::IndexSpaceRef copy(analysis::FieldState& from, analysis::FieldState& to,
                           const data::IndexSpaceRef& points) override;
  std::vector<runtime::CallExchange> send_to_all(refrain::detail::FutureState& value,
                                                 const Where& where, std::uint64_t call) override;
  AnyFuture gather(refrain::detail::FutureState& own, const exec::NodeInfo& info) override;
  [[nodiscard]] bool is_spread(const refrain::detail::FutureState& values) const override;
  std::vector<runtime::CallExchange> reduce(const AnyFuture& values, const ReductionOp& op,
                                            const AnyFuture& result, const exec::NodeInfo& info,
                                            std::uint64_t call) override;
  void issue(std::span<const runtime::CallExchange> exchanges,
             const refrain::detail::FutureState& given, std::uint64_t call) override;
  exec::FailureRef agree(const exec::FailureRef& own, const exec::NodeInfo& info) override;
  void forget(analysis::FieldState& field) override;
  void propose_end(std::uint64_t region) override {
    if (check_ != nullptr) check_->propose(region);
  }
  [[nodiscard]] ShardCounters counters() const override;
  void end_program(const std::string& error, const exec::NodeInfo& info) override;
  [[noreturn]] void end_run(const std::exception_ptr& error) noexcept override;

 private:
  struct Plan;
  struct Pieces;
  /// Contributions of one launch point of another shard.
  struct RemoteFold {
    std::uint32_t launch_rank, argument, section;
    std::size_t message;
    data::IndexSpaceRef points;
  };
  struct Part {
    std::uint32_t launch_rank, argument;
    runtime::ContributionPart part;
  };
  struct Taken {
    std::shared_ptr<Contributions> message;
    exec::NodeRef node;
  };

  void begin_interval(const Where& where) noexcept;
  shard::StateRef state_of(const analysis::FieldState& field);
  void keep_extent(analysis::FieldState& field);
  /// Takes a step, and makes the operations of a read.
  const shard::Step& step(analysis::FieldState& field, const shard::Access& access);
  void move(analysis::FieldState& field, const shard::Traffic& traffic, std::uint32_t argument,
            const analysis::Origin& origin);
  exec::NodeRef issue(const runtime::CallExchange& made, std::uint64_t call,
                      const std::function<void(analysis::Edges&)>& add_edges);
  [[nodiscard]] std::vector<std::size_t> ranks_of(const Plan& plan,
                                                  const data::IndexSpaceRef& domain,
                                                  shard::ShardId shard) const;
  shard::UsersRef users(const Plan& plan, std::size_t argument);
  shard::UsersRef single(shard::ShardId shard, const data::IndexSpaceRef& points);
  void reduce(runtime::LaunchPlan& plan, std::uint32_t argument, const shard::Traffic& traffic,
              const analysis::Origin& origin);
  [[nodiscard]] analysis::Origin origin_of(const runtime::LaunchPlan& plan, std::uint32_t argument,
                                           std::uint64_t rank) const;
  /// Calls `begin`, and waits until what that is given was called.
  void wait_for(const std::function<void(std::function<void()>)>& begin,
                const exec::NodeInfo& info);
  /// An all-reduce that the program waits for.
  net::Bytes all_reduce(MessageKind kind, net::Bytes own, net::Combine combine,
                        const exec::NodeInfo& info);
  /// Of the next message there, which has so many bytes, failures aside.
  [[nodiscard]] net::Header header_to(shard::ShardId peer, MessageKind kind, std::uint32_t argument,
                                      std::size_t bytes);
  [[nodiscard]] net::Header header_from(shard::ShardId peer, MessageKind kind,
                                        std::uint32_t argument);

  runtime::ContextCore& context_;
  Ranks& ranks_;
  ControlCheck* const check_;  ///< null: there is none
  const std::function<void(std::uint64_t)> end_region_;
  const shard::ShardId me_, shards_;
  ShardCounters counters_;
  KnownFailures failures_;
  Transfers transfers_;
  shard::Steps steps_;
  std::unordered_map<const analysis::FieldState*, analysis::UsedExtent> extents_;

  // Of the launch that is being planned and made:
  shard::ShardId runs_at_ = 0;  ///< a single one
  Sharding sharding_;           ///< a group
  std::uint64_t call_ = 0;
  std::vector<std::shared_ptr<Contributions>> outgoing_;
  std::vector<Taken> taken_;
  std::vector<Part> parts_;         ///< by launch rank and argument
  std::vector<RemoteFold> remote_;  ///< the same
  std::size_t next_remote_ = 0;
  std::vector<runtime::ContributionPart> found_;  ///< scratch of parts()
};

}  // namespace refrain::replication
