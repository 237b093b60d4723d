#pragma once
// One process's part of a run: the file that it is recorded in, the reference run, and which threads have joined. Any
// number of threads join; a mutex has all that is shared. It has to outlive the streams.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
  /// FileError: a file cannot be read or written, is damaged, or is of another program; the record is the reference, or
  /// has something of this process already.
  explicit Run(const RunSettings& settings);

  /// OracleError: that thread has joined already, and, where it is recorded, also if it has left.
  std::unique_ptr<Stream> join(std::uint32_t thread);
  /// It may join again, unless it was recorded: there is one record of each thread.
  void leave(std::uint32_t thread);

  [[nodiscard]] std::uint32_t process() const { return process_; }
  /// The file that it is recorded in.
  [[nodiscard]] std::optional<FileIdentity> recorded() const {
    return writer_ ? std::optional(writer_->file()) : std::nullopt;
  }

 private:
  std::optional<ThreadRecord> reference_of(std::uint32_t thread);

  const std::uint32_t process_;
  const bool times_;
  std::optional<RunWriter> writer_;
  RunRecord reference_;  ///< of this process
  std::mutex mutex_;
  std::map<std::uint32_t, bool> has_left_;  ///< of the threads that have joined
};

}  // namespace refrain::oracle
