#pragma once
// The exits of replays (exec/replay_aside.hpp) that may have been missed: by the thread that did the
// operation, because it did not see yet that there are exits, and by the owner, because it did not see
// yet that the operation was done.
//
// No exit is lost. The owner writes it down here before it looks at `done` (`open`), and everybody looks
// through the board before going to sleep. Both take the lock. When the owner is first, the thread that
// did the operation finds the exit when it looks; when that thread is first, the owner sees `done`. So
// once all others sleep, an exit that is still open is that of an operation that is not done.
//
// Threads: any. An entry's replay stays as it is while the entry is here: the owner calls `close`, which
// claims what is left, before it uses the slot again. Cost: a lock per exit and per look.

#include <cstdint>
#include <mutex>
#include <vector>

#include "exec/replay_aside.hpp"

namespace refrain::exec {

class ExitBoard {
 public:
  /// Owner: operation `index` has an exit.
  void open(Replay& replay, std::uint32_t index) {
    const std::lock_guard lock(mutex_);
    entries_.push_back({&replay, index, replay.number});
  }

  /// Claims the stand-ins of all operations that are done: calls finish(node) for each, without the lock.
  template <class Finish>
  void look(Finish finish) {
    finish_all(claim_if([](const Entry& entry) {
                 // acquire: partner of the release when an operation is done.
                 return entry.replay->live()[entry.index].done.load(std::memory_order_acquire) ==
                        entry.number;
               }),
               finish);
  }
  /// The same for the replay's, which is complete.
  template <class Finish>
  void close(const Replay& replay, Finish finish) {
    finish_all(claim_if([&](const Entry& entry) { return entry.replay == &replay; }), finish);
  }

 private:
  struct Entry {
    Replay* replay;
    std::uint32_t index;
    std::uint32_t number;
  };

  /// Takes entries off the board; returns their stand-ins that nobody has claimed, linked through `next`.
  template <class Takes>
  Node* claim_if(Takes takes) {
    const std::lock_guard lock(mutex_);
    Node* claimed = nullptr;
    std::erase_if(entries_, [&](const Entry& entry) {
      if (!takes(entry)) return false;
      if (Node* node = entry.replay->aside->claim(entry.index)) {
        node->next = claimed;
        claimed = node;
      }
      return true;
    });
    return claimed;
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
  std::vector<Entry> entries_;
};

}  // namespace refrain::exec
