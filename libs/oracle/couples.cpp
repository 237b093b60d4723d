#include "oracle/couples.hpp"

namespace refrain::oracle {

void Couples::grow() {
  std::vector<NodeIndex> chains(heads_.size() * 2, Sequences::kNone);
  chains.swap(heads_);
  --shift_;
  for (NodeIndex node : chains) {
    while (node != Sequences::kNone) {
      const NodeIndex next = nodes_[node].chain;
      link(node);
      node = next;
    }
  }
}

}  // namespace refrain::oracle
