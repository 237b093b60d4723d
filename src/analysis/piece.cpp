#include "analysis/piece.hpp"

namespace refrain::analysis {

Use& Piece::find_or_add(Instance* instance) {
  if (Use* use = find(instance)) return *use;
  uses.emplace_back().instance = instance;
  return uses.back();
}

}  // namespace refrain::analysis
