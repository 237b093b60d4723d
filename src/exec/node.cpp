#include "exec/node.hpp"

#include "exec/failure.hpp"
#include "exec/scope.hpp"

namespace refrain::exec::detail {

bool add_overflow_edge(Node& from, std::uint32_t count, TaggedNode to) {
  const std::uint32_t beyond = count - Node::kInlineSuccessors;
  const std::uint32_t slot = beyond % SuccessorBlock::kSlots;
  if (slot == 0) {
    SuccessorBlock* block = from.scope->take_block();
    if (beyond == 0) {
      from.overflow = block;
    } else {
      from.overflow->tail->next = block;
    }
    from.overflow->tail = block;
  }
  from.overflow->tail->slots[slot] = to;
  // release: partner of the closing exchange in complete_node (exec/completion.hpp); acquire on
  // failure: what the closer wrote before it closed (the failure) is visible.
  return from.successor_state.compare_exchange_strong(count, count + 1, std::memory_order_release,
                                                      std::memory_order_acquire);
}

void inherit_failure(const NodeRef& from, Node& to) {
  if (const Failure* failure = to.scope->failure_of(from)) pass_failure(*failure, to);
}

}  // namespace refrain::exec::detail
