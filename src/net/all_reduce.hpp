#pragma once
// An all-reduce that goes on beside the program: every rank contributes bytes, and every rank is told what they make
// together. Contributions are combined up a binomial tree whose root is rank 0, always in the same order; the result
// goes down the same tree. 2 (ranks - 1) messages, of which a rank has at most 2 log2(ranks).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "net/mailbox.hpp"

namespace refrain::net {

using Bytes = std::vector<std::byte>;
/// Adds to `into`, of this rank and those below it, what the next ranks have. Not called for a message without bytes: that
/// says the same, as all of those do that come in a dry run (net/dry.hpp).
using Combine = std::function<void(Bytes& into, std::span<const std::byte> next)>;

/// What its messages say of it.
struct Occasion {
  std::uint32_t kind = 0;
  std::uint64_t call = 0;
  Where where{};
};

/// Begins one; the thread that gives out the mailbox's numbers, on every rank in the same order. `done` is called once,
/// by the thread that polls, or here.
void all_reduce(Mailbox& mailbox, const Occasion& of, Bytes contribution, Combine combine,
                std::function<void(Bytes)> done);

}  // namespace refrain::net
