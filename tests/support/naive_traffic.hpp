#pragma once
// The judge of the messages between shards: what a random program makes each shard send, with owners and holders written
// out point by point (naive_holdings.hpp). Its steps say the same call by call, for the naive analysis of one shard
// (naive_shard.cpp).

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "refrain/reduction.hpp"
#include "shard/sharding.hpp"
#include "support/naive_holdings.hpp"
#include "support/resolve.hpp"

namespace refrain::test {

/// What is compared of a message: what it is for, the argument, and the bytes of its values.
struct NaiveMessage {
  enum class Kind : std::uint8_t { values, contributions, future };
  Kind kind = Kind::values;
  std::uint32_t argument = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const NaiveMessage&, const NaiveMessage&) = default;
};
/// By sender and receiver, in order.
using NaiveMessages = std::map<std::pair<int, int>, std::vector<NaiveMessage>>;

/// What a call means on several shards, where it moves data or values or divides work. One for each launch, copy, fill with
/// a future, access, partition by data, attachment by pieces, detachment, reduction of futures, and each time that the program asks for the values
/// of a future, in program order.
struct NaiveStep {
  struct Values {
    int from, to;
    int argument;
    Mask points;
  };
  /// Of a launch point to points that one shard folds, perhaps its own. In launch order within an argument.
  struct Contribution {
    int from, to;
    int argument;
    std::size_t rank;
    Mask points;
  };
  /// Of a launch: who runs each point. Of an attachment by pieces: who has each. Where a group's values are asked for the first time: who has each.
  std::vector<int> shards;
  std::vector<Values> values;  ///< by argument, sender and receiver
  std::vector<Contribution> contributions;
  std::map<int, Mask> copied;  ///< of a copy: which points each owner of the source copies
  /// The value of a single launch, or of a reduction, that one shard has had so far.
  struct Sent {
    int future, from, shards;
  };
  std::vector<Sent> sent;  ///< to all others (passed_on)
  int together =
      0;  ///< of a reduction: so many shards make it of what each has; 0: each has all values
};

/// To whom a shard sends a value that one shard has had so far and all get.
std::vector<int> passed_on(int shard, int from, int shards);

/// How a group launch of a task is divided.
using NaiveSharding =
    std::function<shard::Sharding(const std::string& task, const data::IndexSpaceRef& domain)>;

/// The messages of a program, but for those with which shards agree on the first failure. Where something fails, messages
/// have more bytes than is said here.
class NaiveTraffic {
 public:
  NaiveTraffic(const Program& program, int shards, NaiveSharding sharding)
      : program_(&program), shards_(shards), sharding_(std::move(sharding)) {}
  [[nodiscard]] NaiveMessages messages();
  /// After messages().
  [[nodiscard]] const std::vector<NaiveStep>& steps() const { return steps_; }

 private:
  struct User {
    int shard;
    data::IndexSpaceRef points;
  };
  void perform(const Resolved& r);
  void launch(const Resolved& r);
  void read(const ResolvedArgument& argument, std::uint32_t number, const std::vector<User>& users);
  void reduce(const ResolvedArgument& argument, std::uint32_t number,
              const std::vector<User>& users);
  void read_by_all(const ResolvedArgument& argument);
  void write_by_all(const ResolvedArgument& argument);
  void copy(const Resolved& r);
  void attach(const Resolved& r);
  void detach(int id);
  void broadcast(int shard, std::uint64_t bytes);
  void send_to_all(int future);
  void reduce_together(const std::vector<int>& makers);
  [[nodiscard]] std::vector<int> shards_of(const Resolved& r);
  [[nodiscard]] int place(const std::vector<ResolvedArgument>& arguments);
  NaiveHoldings& state(const ResolvedArgument& argument);
  [[nodiscard]] data::IndexSpaceRef points(const ResolvedArgument& argument) const;
  template <class Points>
  [[nodiscard]] Mask mask(const ResolvedArgument& argument, const Points& points) const;
  [[nodiscard]] std::size_t value_size(const ResolvedArgument& argument) const;

  const Program* program_;
  int shards_;
  NaiveSharding sharding_;
  std::map<std::pair<int, int>, NaiveHoldings> states_;  ///< by tree and field
  struct Attached {
    ResolvedArgument argument;
    std::vector<User> pieces;  ///< if it is by these
  };
  std::map<int, Attached> attached_;
  std::map<int, std::vector<int>> makers_;  ///< of a map of futures: the shard of each
  std::map<int, int> homes_;                ///< of a future that one shard has: which
  NaiveMessages messages_;
  std::vector<NaiveStep> steps_;
};

}  // namespace refrain::test
