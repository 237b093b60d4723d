#pragma once
// Relaxed reductions: folds with one operator that follow each other in program order, with no other use
// of the instance at these points in between, commute. Such a group takes the place of the last writer:
// each of its folds comes after what the first one came after, and after none of its fellows; whoever
// reads or writes next comes after all of them, and closes the group by doing so. So does an ordered fold
// or one with another operator: it starts with this group as what was written before.
//
// A use of another instance needs no rule of its own. After a fold its target alone is valid (rule W), so
// whatever touches the points elsewhere either copies from here first, which is a read, or writes over
// them, and then the next fold here needs a copy to here, which is a write.
//
// Folds of a group may run at the same time; that they do not lose each other's contributions is seen to
// where they are carried out (memory/accumulator.hpp).

#include <vector>

#include "graph/node.hpp"
#include "refrain/reduction.hpp"

namespace refrain::analysis {

/// An operator: what it does is all that matters here.
using FoldFunction = decltype(ReductionOp::fold);

struct FoldGroup {
  FoldFunction fold = nullptr;
  std::vector<exec::NodeRef> folds;  ///< so far
  std::vector<exec::Edge> before;    ///< what each of them comes after
  friend bool operator==(const FoldGroup&, const FoldGroup&) = default;
};

}  // namespace refrain::analysis
