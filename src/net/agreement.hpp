#pragma once
// Before a program runs: whether all ranks were started alike.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "net/mailbox.hpp"

namespace refrain::net {

/// What has to be the same on every rank, such as the flags.
struct Item {
  std::string name, value;
};

/// Collective, on the thread that gives out the mailbox's numbers, and blocks. InputError on every rank when two ranks
/// have different values, or different items; the text names both, the item and the values. `kind`: of its messages.
/// Each of `least` becomes the least that any rank has in its place; where the items are the same, all have as many.
/// `idle` is called when nothing has come; null: another thread may run.
void agree(Mailbox& mailbox, std::uint32_t kind, std::span<const Item> items,
           std::span<std::uint64_t> least = {}, const std::function<void()>& idle = nullptr);

}  // namespace refrain::net
