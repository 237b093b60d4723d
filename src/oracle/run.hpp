#pragma once
// One process's part of a run: the file that it is recorded in, the reference run, and which threads have joined. Any
// number of threads join; a mutex has all that is shared. It has to outlive the streams.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "oracle/run_reader.hpp"
#include "oracle/run_writer.hpp"
#include "oracle/stream.hpp"

namespace refrain::oracle {

struct RunSettings {
  std::optional<std::string> record;     ///< was created
  std::optional<std::string> reference;  ///< of an earlier run
  std::optional<std::string> program;    ///< that the reference has to be of
  std::uint32_t process = 0;
  bool times = false;  ///< those between events are recorded, too
};

class Run {
 public:
  /// FileError: a file cannot be read or written, is damaged, or is of another program.
  explicit Run(const RunSettings& settings);

  /// OracleError: that thread has joined already.
  std::unique_ptr<Stream> join(std::uint32_t thread);
  /// It may join again, and what it records then takes the place of what it has recorded.
  void leave(std::uint32_t thread);

 private:
  std::optional<ThreadRecord> reference_of(std::uint32_t thread);

  const std::uint32_t process_;
  const bool times_;
  std::optional<RunWriter> writer_;
  RunRecord reference_;  ///< of this process
  std::mutex mutex_;
  std::set<std::uint32_t> joined_;
};

}  // namespace refrain::oracle
