#pragma once
// A text file that is written while a run goes on: --refrain:graph, --refrain:graph-calculus. It is opened
// when the runtime starts, so that a path that cannot be written is an error at once; when it has been closed it is
// complete and takes the place of an older one (base/new_file.hpp).
//
// Threads: any, one lock. Memory: none beyond the file's buffer.

#include <mutex>
#include <string>

#include "base/new_file.hpp"

namespace refrain::runtime {

class ReportFile {
 public:
  /// `what` is what messages call the contents. Throws Error, naming the file, when it cannot be opened.
  ReportFile(std::string path, std::string what);

  /// The text is not mixed with that of other threads. After `close` nothing is done.
  void append(const std::string& text);
  /// Appends `last`, and is complete. A second call does nothing. Throws Error when not all could be written.
  void close(const std::string& last = {});
  [[nodiscard]] bool is_open() const { return file_.is_open(); }

 private:
  [[noreturn]] void fail(int error) const;

  const std::string path_, what_;
  std::mutex mutex_;
  NewFile file_;
  int error_ = 0;  ///< errno of the first time that nothing could be written
};

}  // namespace refrain::runtime
