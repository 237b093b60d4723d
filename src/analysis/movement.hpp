#pragma once
// The operations that move data: fills and copies, which make instances valid (rule R2), and the folds that bring a
// reduction home. A payload stands behind its node in memory, or in a recording.

#include <cstddef>
#include <memory>
#include <string>

#include "analysis/equivalence_set.hpp"
#include "analysis/instance.hpp"
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
  /// The same in other instances.
  void run(const Instance& from, const Instance& to) const;
};

struct FillPayload {
  const Instance* target = nullptr;
  data::IndexSpaceRef points;
  std::shared_ptr<const FillValue> value;
  std::size_t value_size = 0;
  /// Writes `value`, which must be there.
  void run(const FillValue& value) const;
};

/// What a fold operation works on. The reducing task makes the accumulator when it starts.
struct FoldPayload {
  refrain::detail::Accumulator* accumulator = nullptr;
  const Instance* target = nullptr;
  data::IndexSpaceRef points;
  /// The operator, where others may be folded into the same points meanwhile.
  FoldFunction relaxed = nullptr;
  /// Whose contribution it is, for messages. Lasts as long as its launch, which the fold belongs to.
  const exec::NodeInfo* reducer = nullptr;
  int argument = 0;
  /// For the message of an operator that throws.
  [[nodiscard]] std::string who() const;
  void run(refrain::detail::Accumulator& contribution) const;
};

}  // namespace refrain::analysis
