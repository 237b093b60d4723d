#pragma once
// Reads the file of a run (run_format.hpp), also while it is written, and after whoever wrote it was killed. Nothing in
// a file is believed before it is checked: memory is bounded by what is in the file and by the format's limits.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/thread_record.hpp"

namespace refrain::oracle {

struct RunRecord {
  std::string program;
  std::vector<ThreadRecord> threads;  ///< ascending by process and thread; of each the last record
  std::uint64_t torn = 0;  ///< so many bytes at the end are of a block that was not finished
};

/// FileError, if it cannot be read, is damaged, or is not of this program, where one is given.
[[nodiscard]] RunRecord read_run(const std::string& path,
                                 const std::optional<std::string>& program = std::nullopt);

/// The same of bytes in memory. `name`: for errors.
[[nodiscard]] RunRecord run_in(std::string_view bytes, const std::string& name);

}  // namespace refrain::oracle
