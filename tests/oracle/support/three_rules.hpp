#pragma once
// The judge of grammars: the paper's three rules (PYTHIA, section II-A), by brute force.

#include <cstdint>
#include <span>
#include <string>

#include "oracle/grammar.hpp"

namespace refrain::oracle {

/// What is wrong with a grammar of these events; "" if nothing is:
///   - every rule but the root is used at least twice, repetitions counted,
///   - no couple of neighbours comes twice, whatever their exponents,
///   - no symbol stands beside itself,
/// and, beside them: it unfolds to the events, every rule has at least two symbols, and rules are numbered in the order
/// in which a reader meets them.
std::string complaint(const Grammar& grammar, std::span<const std::uint32_t> events);

}  // namespace refrain::oracle
