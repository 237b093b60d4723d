#pragma once
// The shards of one program in one process, each an actor of one seeded executor. Messages are late and overtake each
// other as the seed decides.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/seeded_executor.hpp"
#include "machine/machine.hpp"
#include "net/in_process.hpp"
#include "refrain/refrain.hpp"
#include "replication/message_kind.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/naive_traffic.hpp"
#include "support/random.hpp"
#include "support/some_tracing.hpp"

namespace refrain::test {

inline constexpr const char* kShardsMachine = "emulated:cpus=4,gpus=1";

/// Few accumulators at a time, and few operations in flight (below), must not keep shards waiting for each other.
inline exec::ExecutorOptions executor_options_of_shards(std::uint64_t seed) {
  exec::ExecutorOptions options;
  options.accumulators = mix(seed, 6) % 2 == 0 ? 1 : 64;
  return options;
}

/// Shards of one program, each an actor of one seeded executor.
class Shards {
 public:
  /// What a rank has of its end of the network.
  using Wrap = std::function<std::unique_ptr<net::Transport>(std::unique_ptr<net::Transport>)>;

  Shards(shard::ShardId shards, std::uint64_t seed, Wrap wrap = nullptr)
      : seed_(seed),
        wrap_(std::move(wrap)),
        random_(mix(seed, 91)),
        executor_(std::make_shared<exec::SeededExecutor>(
            exec::plan_processors(machine::load(kShardsMachine)), executor_options_of_shards(seed),
            seed)),
        network_(
            shards, [this](std::size_t below) { return random_.next() % below; },
            [this](const net::Message& message) { note(message.header()); }),
        shards_(shards) {}

  /// Calls program(runtime, shard) on each. `set`: its options, where they are not as the seed says.
  void run(const std::function<void(Runtime&, shard::ShardId)>& program,
           const std::function<void(Options&, shard::ShardId)>& set = nullptr) {
    std::vector<std::function<void()>> programs;
    for (shard::ShardId shard = 0; shard < shards_; ++shard)
      programs.emplace_back([&, shard] {
        Options options;
        options.machine = kShardsMachine;
        if (mix(seed_, 7) % 3 == 0) options.window = 2;
        options.check_determinism = mix(seed_, 8) % 40;
        set_tracing(options, seed_, shard);
        if (set) set(options, shard);
        std::unique_ptr<net::Transport> end = network_.open(shard);
        if (wrap_) end = wrap_(std::move(end));
        Runtime runtime(std::make_shared<runtime::RuntimeImpl>(
            options, runtime::World{executor_, detail::TaskSlots::beside_process(),
                                    std::make_shared<net::Mailbox>(std::move(end))}));
        program(runtime, shard);
      });
    executor_->run_programs(programs);
    EXPECT_EQ(network_.in_flight(), 0u);
  }
  /// What was sent of data, by sender and receiver, in order.
  [[nodiscard]] NaiveMessages messages() const {
    NaiveMessages messages;
    for (const auto& [pair, numbered] : sent_)
      for (const auto& [number, message] : numbered) messages[pair].push_back(message);
    return messages;
  }

 private:
  void note(const net::Header& header) {
    using replication::MessageKind;
    const auto kind = static_cast<MessageKind>(header.kind);
    if (kind > MessageKind::future) return;
    sent_[{static_cast<int>(header.from), static_cast<int>(header.to)}][header.number] = {
        kind == MessageKind::values          ? NaiveMessage::Kind::values
        : kind == MessageKind::contributions ? NaiveMessage::Kind::contributions
                                             : NaiveMessage::Kind::future,
        header.argument, header.size};
  }

  const std::uint64_t seed_;
  const Wrap wrap_;
  Random random_;
  std::shared_ptr<exec::SeededExecutor> executor_;
  net::InProcess network_;
  const shard::ShardId shards_;
  std::map<std::pair<int, int>, std::map<std::uint64_t, NaiveMessage>> sent_;  ///< by number
};

inline std::string to_text(const NaiveMessages& messages) {
  std::string text;
  for (const auto& [pair, all] : messages) {
    text += fmt::format("{} to {}:", pair.first, pair.second);
    for (const NaiveMessage& message : all)
      text += fmt::format(" {}{}({})", "vcf"[static_cast<int>(message.kind)], message.argument,
                          message.bytes);
    text += '\n';
  }
  return text;
}

}  // namespace refrain::test
