#pragma once
// "Did you mean ...?": the known name nearest to a mistyped one.

#include <span>
#include <string>
#include <string_view>

namespace refrain {

/// The candidate with the fewest single-character edits (insert, remove, replace) from `word`, the first
/// of several; empty when even the best differs in more than half of its characters. Cost: the product
/// of the lengths, per candidate.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates);

/// What to say after "unknown name 'gpu'": "; did you mean 'gpus'?", or, when no candidate is near,
/// "; known are cpus, gpus".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace refrain
