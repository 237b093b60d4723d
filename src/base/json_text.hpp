#pragma once
// Writing JSON strings piece by piece, for files too large to build in memory first. Reading is
// json_tree.hpp.

#include <string>
#include <string_view>

namespace refrain {

/// Appends `text` as a JSON string, quotes included. Control characters are escaped; other bytes stand
/// as they are, so UTF-8 stays UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace refrain
