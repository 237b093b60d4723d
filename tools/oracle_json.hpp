#pragma once
// `refrain oracle show --json`: what is in a file, for other programs. docs/oracle.md says which members there are.

#include <string>

#include "refrain/oracle.hpp"

namespace refrain::tools {

/// Valid JSON whatever the names and notes are; a line for each event, rule and note, since there may be many. Bytes that
/// are not UTF-8 are replaced in a string, and a member "..._hex" beside it has all of them.
std::string run_json(const OracleRun& run);

}  // namespace refrain::tools
