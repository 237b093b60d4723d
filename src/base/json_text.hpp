#pragma once
// Writing JSON strings piece by piece, for files too large to build in memory first. Reading is
// json_tree.hpp.

#include <string>
#include <string_view>

namespace refrain {

/// Appends `text` as a JSON string, quotes included. Control characters are escaped; UTF-8 stands as it is;
/// bytes that are none are replaced by U+FFFD, since JSON has to be UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace refrain
