#pragma once
// A number in a small file of the kernel's: under /proc, /sys or a control group.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace refrain {

/// The number that begins the first line, or follows `key` in the first line that begins with it ("MemTotal:  123 kB").
/// Nothing where there is no such file, line or number ("max"), or it is 2^64 or more.
std::optional<std::uint64_t> number_in(const std::string& path, std::string_view key = {});

}  // namespace refrain
