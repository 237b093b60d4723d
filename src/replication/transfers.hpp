#pragma once
// The operations that send and receive: nodes of the task graph like copies, whose other end is on another shard.
//
// A message of values has these in the order of the points' boxes, and, if some points have failures in place of values,
// a list of them behind (replication/wire.hpp). Those of contributions: replication/contributions.hpp.
//
// Threads: the context's makes the operations, and numbers their messages in the order of the program's calls. They run
// on any thread; a message is taken in on the thread that polls, while the operation that awaits it is under way, so
// nobody else uses what it writes.
//
// Errors: where one of them throws (there is no memory for a message), the other shards would wait for ever, so the run
// ends (exec::ScopeUser::failed_here). What fails before it runs has been given up at such an end, and lets go of what it
// holds. What operators of the program throw are failures like those of tasks.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/analysis.hpp"
#include "launch/context_core.hpp"
#include "net/mailbox.hpp"
#include "replication/contributions.hpp"
#include "replication/message_kind.hpp"
#include "replication/wire.hpp"

namespace refrain::replication {

/// Makes the operations of one context.
class Transfers {
 public:
  /// `counters`: of what is sent.
  Transfers(runtime::ContextCore& context, net::Mailbox& mailbox, KnownFailures& failures,
            ShardCounters& counters)
      : context_(context), mailbox_(mailbox), failures_(failures), counters_(counters) {}

  /// Sends a message of values of an argument.
  void send(analysis::FieldState& field, const data::IndexSpaceRef& points, net::Rank to,
            std::uint32_t argument, const analysis::Origin& origin);
  void receive(analysis::FieldState& field, const data::IndexSpaceRef& points, net::Rank from,
               std::uint32_t argument, const analysis::Origin& origin);

  /// A message of contributions of this call.
  std::shared_ptr<Contributions> contributions(Contributions::Of of,
                                               const std::vector<std::size_t>& points,
                                               std::uint64_t call);
  /// Awaits it. The operation after which it is there.
  exec::NodeRef take(const std::shared_ptr<Contributions>& incoming,
                     const analysis::Origin& origin);
  /// Folds a section of what `taken` has brought. `relaxed`: as Analysis::issue_fold.
  void fold(const std::shared_ptr<Contributions>& incoming, const exec::NodeRef& taken,
            std::uint32_t section, analysis::FieldState& field, const data::IndexSpaceRef& points,
            const ReductionOp* relaxed, const analysis::Origin& origin);
  /// Puts a reducer's contribution into a section.
  analysis::FoldPayload& give(const exec::NodeRef& reducer, std::shared_ptr<Contributions> outgoing,
                              std::uint32_t section, const data::IndexSpaceRef& points,
                              const analysis::Origin& origin);

 private:
  void move(analysis::FieldState& field, const data::IndexSpaceRef& points,
            analysis::Instance& instance, net::Rank peer, std::uint32_t argument, bool received,
            const analysis::Origin& origin);
  analysis::Instance& place(analysis::FieldState& field, const data::IndexSpaceRef& points,
                            const analysis::Origin& origin);
  template <class Payload>
  exec::Node& make(exec::NodeKind kind, void (*run)(exec::Node&, exec::Execution&),
                   const exec::NodeInfo& info, Payload payload);
  const exec::NodeInfo& info_for(const char* name, const analysis::Origin& origin) {
    return context_.analysis.info_for(name, origin.info->where);
  }

  runtime::ContextCore& context_;
  net::Mailbox& mailbox_;
  KnownFailures& failures_;
  ShardCounters& counters_;
};

}  // namespace refrain::replication
