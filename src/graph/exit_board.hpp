#pragma once
// The exits of replays (graph/replay_aside.hpp) that may have been missed: by the thread that did the
// operation, because it did not see yet that there are exits, and by the owner, because it did not see
// yet that the operation was done.
//
// No exit is lost. The owner writes it down here before it looks at `done` (`open`), and everybody looks
// through the board before going to sleep. Both take the lock. When the owner is first, the thread that
// did the operation finds the exit when it looks; when that thread is first, the owner sees `done`. So
// once all others sleep, an exit that is still open is that of an operation that is not done.
//
// Threads: any. A replay stays as it is while exits of it are here: the owner calls `close`, which claims
// what is left, before it uses the slot again. Cost: a lock per exit and per look; a look goes through all
// exits of replays that are not complete.

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/sure_memory.hpp"
#include "graph/replay_aside.hpp"

namespace refrain::exec {

class ExitBoard {
 public:
  /// Owner: operation `index` has an exit. Returns its stand-in if the operation is done and nobody else has
  /// claimed it.
  Node* open(Replay& replay, std::uint32_t index) {
    const std::lock_guard lock(mutex_);
    open_[&replay].push_back(index);
    return replay.is_done(index) ? replay.aside->claim(index) : nullptr;
  }

  /// Claims the stand-ins of all operations that are done: calls finish(node) for each, without the lock.
  template <class Finish>
  void look(Finish finish) {
    Node* claimed = nullptr;
    {
      const std::lock_guard lock(mutex_);
      for (auto& [replay, exits] : open_) {
        std::erase_if(exits, [&, at = replay](std::uint32_t index) {
          if (!at->is_done(index)) return false;
          claim(*at, index, claimed);
          return true;
        });
      }
    }
    finish_all(claimed, finish);
  }
  /// The same for the replay's, which is complete.
  template <class Finish>
  void close(Replay& replay, Finish finish) {
    Node* claimed = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto exits = open_.extract(&replay);
      if (exits.empty()) return;
      for (const std::uint32_t index : exits.mapped()) claim(replay, index, claimed);
    }
    finish_all(claimed, finish);
  }

 private:
  /// Puts the stand-in, if nobody has claimed it, before the others, which are linked through `next`.
  static void claim(Replay& replay, std::uint32_t index, Node*& claimed) {
    Node* node = replay.aside->claim(index);
    if (node == nullptr) return;
    node->next = std::exchange(claimed, node);
  }
  template <class Finish>
  static void finish_all(Node* claimed, Finish finish) {
    while (claimed != nullptr) {
      Node& node = *claimed;
      claimed = node.next;
      finish(node);
    }
  }

  std::mutex mutex_;
  using Operations = std::vector<std::uint32_t, SureAllocator<std::uint32_t>>;
  std::unordered_map<Replay*, Operations, std::hash<Replay*>, std::equal_to<>,
                     SureAllocator<std::pair<Replay* const, Operations>>>
      open_;  ///< operations with exits
};

}  // namespace refrain::exec
