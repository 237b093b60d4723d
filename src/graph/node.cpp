#include "graph/node.hpp"

#include "graph/failure.hpp"
#include "graph/scope.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

std::string launch_name(std::string_view task, const std::source_location& where) {
  const NodeInfo info{std::string(task), where};
  return operation_name(&info, NodeKind::task);
}

std::string operation_name(const NodeInfo* info, NodeKind kind) {
  const bool access = kind == NodeKind::access;
  std::string text = kind == NodeKind::task ? "task '"
                     : access               ? "the inline access '"
                                            : "operation '";
  text += (info != nullptr ? info->name : std::string("unnamed")) + "'";
  if (info != nullptr && info->where.line() != 0)
    text += (access ? " opened at " : " launched at ") + to_string(info->where);
  return text;
}

namespace detail {

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
  // release: partner of the closing exchange in complete_node (graph/completion.hpp); acquire on
  // failure: what the closer wrote before it closed (the failure) is visible.
  return from.successor_state.compare_exchange_strong(count, count + 1, std::memory_order_release,
                                                      std::memory_order_acquire);
}

void inherit_failure(const NodeRef& from, Node& to) {
  if (const Failure* failure = to.scope->failure_of(from)) pass_failure(*failure, to);
}

}  // namespace detail

}  // namespace refrain::exec
