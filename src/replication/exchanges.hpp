#pragma once
// The operations by which shards exchange the values of futures. Each is made once: a replay, too, makes it anew, since the
// futures are others each time (analysis/message.hpp).
//
// A message of values says of each whether it has failed; the failure is behind its place. Of a reduction a message has
// the results of subtrees (partial_results.hpp).
//
// Threads: the context's makes the exchanges, and numbers their messages, in the order of the program's calls. They run on
// any thread; a message is taken in on the thread that polls, while the operation that awaits it is under way.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/message.hpp"
#include "launch/replicated.hpp"
#include "net/mailbox.hpp"
#include "refrain/future.hpp"
#include "replication/partial_results.hpp"
#include "replication/wire.hpp"

namespace refrain::replication {

/// What values of a future take in a message at least: more, where some have failed or are packed.
[[nodiscard]] std::size_t bytes_of(const AnyFuture& future, std::size_t values);

/// Sends all values of a future, and puts them into `whole`, if it is valid, at these ranks.
std::shared_ptr<analysis::Exchange> send_values(net::Mailbox& mailbox, KnownFailures& failures,
                                                const AnyFuture& future, const AnyFuture& whole,
                                                std::vector<std::size_t> ranks,
                                                std::vector<net::Header> headers);
/// Receives the values of a future at these ranks.
std::shared_ptr<analysis::Exchange> receive_values(net::Mailbox& mailbox, KnownFailures& failures,
                                                   const Where& where, const AnyFuture& future,
                                                   std::vector<std::size_t> ranks,
                                                   const net::Header& header);

/// The reduction of a group's values, as far as it is this shard's.
struct SharedReduction {
  AnyFuture values;
  std::vector<std::size_t> ranks;  ///< of the launch, of these values
  std::size_t points = 0;          ///< of the launch
  const ReductionOp* op = nullptr;
  AnyFuture result{};  ///< of the shard that has it, else empty
  bool dry = false;    ///< nothing comes from other shards
  Where where{};
  /// Told where some points have come from no shard: they do not agree on who runs which.
  std::function<void(const std::string&)> suspect{};
};

/// Receives partial results from a shard below, for the reduction that reads `results`.
std::shared_ptr<analysis::Exchange> receive_results(net::Mailbox& mailbox, KnownFailures& failures,
                                                    const Where& where,
                                                    std::shared_ptr<PartialResults> results,
                                                    const net::Header& header);
/// Adds those that came `below` to what is here, and settles the result or sends them `above`.
std::shared_ptr<analysis::Exchange> reduce_values(
    net::Mailbox& mailbox, KnownFailures& failures, SharedReduction reduction,
    std::vector<std::shared_ptr<PartialResults>> below, std::optional<net::Header> above);

}  // namespace refrain::replication
