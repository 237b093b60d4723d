#pragma once
// What every task of a random program does, written once over views of its arguments, so that the
// interpreter and the runtime run the same arithmetic on different storage.
//
// A digest takes in the by-value argument, the point, the futures and every value of every argument that
// is read; what is written anywhere, contributed anywhere and returned follows from the digest. So one
// wrong value anywhere changes everything that depends on it. Reductions contribute up to three values
// at some of the points, in doubles that do not add up associatively.

#include <cstdint>
#include <span>
#include <vector>

#include "support/resolve.hpp"

namespace refrain::test {

/// One argument of a running task: its values, wherever they lie.
class View {
 public:
  View(const ResolvedArgument& is, const Shape& shape);
  virtual ~View() = default;
  /// The address of the value (of the accumulator's, for reductions) at this point of the region tree.
  /// Good until the next call.
  virtual void* at(int point) = 0;

  const ResolvedArgument& argument() const { return *is_; }
  ValueKind kind() const { return kind_; }
  int points() const { return points_; }

 private:
  const ResolvedArgument* is_;
  ValueKind kind_;
  int points_;
};

/// Runs a body; returns the digest.
std::uint64_t run_body(std::uint64_t salt, const Point<3>& point,
                       std::span<const std::uint64_t> futures, std::span<View* const> arguments);

/// The values of all of an argument's points, one after the other.
std::vector<std::byte> contents(View& view);

/// Makes what a task returns from its digest; `value` has room for 8 bytes.
void make_result(ValueKind kind, std::uint64_t digest, void* value);

}  // namespace refrain::test
