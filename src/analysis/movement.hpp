#pragma once
// The operations that move data: fills and copies, which make instances valid (rule R2), and the folds that bring a
// reduction home. A payload stands behind its node in memory, or in a recording.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "analysis/equivalence_set.hpp"
#include "analysis/instance.hpp"
#include "analysis/message.hpp"
#include "data/index_space.hpp"

namespace refrain::detail {
class Accumulator;
}

namespace refrain::analysis {

struct CopyPayload {
  const Instance* source = nullptr;
  const Instance* target = nullptr;
  data::IndexSpaceRef points;
  std::size_t value_size = 0;
  void run() const { run(*source, *target); }
  /// The same in other instances. Points without values have their failures in the target, too.
  void run(const Instance& from, const Instance& to) const;
};

struct FillPayload {
  const Instance* target = nullptr;
  data::IndexSpaceRef points;
  std::shared_ptr<const FillValue> value;
  std::size_t value_size = 0;
  /// Writes `filled`, which must be there, or the failure of what should have made it.
  void run(const FillValue& filled) const;
};

/// What a fold operation works on, or one that gives a contribution to the shard that folds it. The reducing task makes the
/// accumulator when it starts; a fold of what has come from another shard fetches it.
struct FoldPayload {
  std::shared_ptr<refrain::detail::Accumulator> accumulator;
  const Instance* target = nullptr;  ///< null: another shard folds
  data::IndexSpaceRef points;
  /// The operator, where others may be folded into the same points meanwhile.
  FoldFunction relaxed = nullptr;
  /// Whose contribution it is, for messages. Lasts as long as its launch, which the fold belongs to, or as `message`.
  const exec::NodeInfo* reducer = nullptr;
  int argument = 0;
  exec::FailureRef failure{};      ///< why there is no contribution
  FoldPayload* next = nullptr;     ///< of another part of the argument's points
  exec::Failure::Origin origin{};  ///< of its own failure
  /// Where it comes from, or goes; null: it stays here.
  std::shared_ptr<Contributions> message{};
  std::uint32_t section = 0;  ///< there
  /// Folds what there is, where there are values to fold it into, and lets it go. Where it throws, the target has the
  /// failure that fail(error, who) makes; `who` is for its message.
  template <class Fail>
  void run(Fail fail) {
    try {
      fold();
    } catch (...) {  // the operator is the program's
      target->poison.fold(points, fail(std::current_exception(), [this] { return who(); }));
    }
  }

 private:
  void fold();
  [[nodiscard]] std::string who() const;
};

/// Runs what writes these points of the target. Where it throws, they have the failure that fail(error) makes.
template <class Move, class Fail>
void move_data(const Instance& target, const data::IndexSpaceRef& points, Move move, Fail fail) {
  try {
    move();
  } catch (...) { target.poison.write(points, fail(std::current_exception())); }
}

}  // namespace refrain::analysis
