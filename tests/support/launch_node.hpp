#pragma once
// A node of the task graph whose body is a lambda of the test.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "graph/executor.hpp"
#include "graph/scope.hpp"

namespace refrain::test {

using NodeBody = std::function<void(exec::Node&, exec::Execution&)>;

/// Launches a node that runs `body` after those in `after`.
inline exec::NodeRef launch_node(exec::Executor& executor, exec::Scope& scope,
                                 const exec::NodeInfo& info, NodeBody body,
                                 const std::vector<exec::NodeRef>& after = {},
                                 std::uint8_t flags = 0) {
  scope.throttle();
  exec::Node& node = scope.allocate(sizeof(NodeBody*));
  node.info = &info;
  node.flags = flags;
  if (flags & exec::kManual) node.kind = exec::NodeKind::access;
  node.payload_as<NodeBody*>() = new NodeBody(std::move(body));
  node.run = [](exec::Node& self, exec::Execution& execution) {
    const std::unique_ptr<NodeBody> owned(self.payload_as<NodeBody*>());
    if (!execution.failure) (*owned)(self, execution);
  };
  const exec::NodeRef ref{&node, node.seq};
  executor.publish(node, after);
  return ref;
}

}  // namespace refrain::test
