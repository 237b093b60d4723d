#pragma once
// Something that a thread can run now: a node of the growing graph, or a light node of a replay
// (graph/replay.hpp), in one word that fits a deque. The low bit tells which; both kinds are aligned.

#include <cstddef>
#include <cstdint>

namespace refrain::exec {

struct Node;
struct LiveNode;

class Ready {
 public:
  Ready() = default;
  Ready(Node* node) : word_(reinterpret_cast<std::uintptr_t>(node)) {}
  Ready(LiveNode* live) : word_(reinterpret_cast<std::uintptr_t>(live) | kLive) {}
  Ready(std::nullptr_t) {}
  static Ready of(std::uintptr_t word) {
    Ready ready;
    ready.word_ = word;
    return ready;
  }

  explicit operator bool() const { return word_ != 0; }
  [[nodiscard]] std::uintptr_t word() const { return word_; }
  [[nodiscard]] bool is_live() const { return (word_ & kLive) != 0; }
  [[nodiscard]] Node& node() const { return *reinterpret_cast<Node*>(word_); }
  [[nodiscard]] LiveNode& live() const { return *reinterpret_cast<LiveNode*>(word_ - kLive); }

 private:
  static constexpr std::uintptr_t kLive = 1;
  std::uintptr_t word_ = 0;
};

}  // namespace refrain::exec
