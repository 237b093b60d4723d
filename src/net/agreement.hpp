#pragma once
// Before a program runs: whether all ranks were started alike.

#include <cstdint>
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
void agree(Mailbox& mailbox, std::uint32_t kind, std::span<const Item> items);

}  // namespace refrain::net
