#pragma once
// The tree of ranks that collectives go by: the children of a rank are rank + 1, + 2, + 4, ... below its lowest bit that
// is set, so what a child has below it follows what the children before have. Rank 0 is the root.

#include <vector>

#include "net/message.hpp"

namespace refrain::net {

class Tree {
 public:
  Tree(Rank rank, Rank ranks) : rank_(rank), ranks_(ranks) {}

  [[nodiscard]] std::vector<Rank> children() const {
    std::vector<Rank> children;
    for (Rank bit = 1; (rank_ & bit) == 0 && rank_ + bit < ranks_; bit *= 2)
      children.push_back(rank_ + bit);
    return children;
  }
  /// Of a rank that is not the root.
  [[nodiscard]] Rank parent() const { return rank_ & (rank_ - 1); }

 private:
  Rank rank_, ranks_;
};

}  // namespace refrain::net
