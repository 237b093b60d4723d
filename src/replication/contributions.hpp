#pragma once
// A message of contributions: it has a section for each launch point that gives some to an argument, one after the other,
// and behind them, if some points have failed in place of contributing, a list of their failures (replication/wire.hpp).
//
// Threads: as analysis::Contributions says. While sections are put in, or fetched, each is one operation's; what they
// share is a count of them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "analysis/message.hpp"
#include "graph/node.hpp"
#include "net/mailbox.hpp"
#include "refrain/counters.hpp"
#include "refrain/reduction.hpp"
#include "replication/wire.hpp"

namespace refrain::replication {

class Contributions final : public analysis::Contributions {
 public:
  /// Whose, and between whom.
  struct Of {
    net::Rank peer = 0;
    bool received = false;
    std::uint32_t argument = 0;
    const ReductionOp* op = nullptr;
    exec::NodeInfo reducer{};  ///< the launch's own may be gone when they are folded
  };
  /// What the contributions of a context's messages have in common. `counters`: of what is sent.
  struct Post {
    net::Mailbox& mailbox;
    KnownFailures& failures;
    ShardCounters& counters;
  };
  /// `points`: how many each section has.
  Contributions(const Post& post, Of of, const std::vector<std::size_t>& points);

  /// As again().
  Contributions(const Contributions& other)
      : post_(other.post_), of_(other.of_), offsets_(other.offsets_), failed_(other.sections()) {}
  [[nodiscard]] std::shared_ptr<analysis::Contributions> again() const override {
    return std::make_shared<Contributions>(*this);
  }
  void begin(std::uint64_t call) override;
  void put(analysis::FoldPayload& contribution,
           const std::function<exec::FailureRef(const std::exception_ptr&)>& fail) override;
  void receive(exec::LaterCompletion later) override;
  void fetch(analysis::FoldPayload& fold) override;

  /// What the operation is called that awaits them.
  [[nodiscard]] const exec::NodeInfo& reducer() const { return of_.reducer; }

 private:
  [[nodiscard]] std::size_t sections() const { return offsets_.size() - 1; }
  [[nodiscard]] std::size_t size() const { return offsets_.back(); }
  void send();
  void take_in(net::Message message);

  const Post post_;
  const Of of_;
  std::vector<std::size_t> offsets_;      ///< of the sections, and their end
  net::Header header_{};                  ///< since begin()
  net::Message message_{header_};         ///< while sections are put in, or fetched
  std::vector<exec::FailureRef> failed_;  ///< by section
  /// Sections that have not been put in, or fetched. acq_rel: the last one sees all.
  std::atomic<std::size_t> left_{0};
};

}  // namespace refrain::replication
