#pragma once
// A text file that is written while a run goes on: --refrain:graph, --refrain:graph-calculus. It is opened
// when the runtime starts, so that a path that cannot be written is an error at once, and complete when it
// has been closed.
//
// Threads: any, one lock. Memory: none beyond the file's buffer.

#include <fstream>
#include <mutex>
#include <string>

namespace refrain::runtime {

class ReportFile {
 public:
  /// `what` is what messages call the contents. Throws Error, naming the file, when it cannot be opened.
  ReportFile(std::string path, std::string what);

  /// The text is not mixed with that of other threads.
  void append(const std::string& text);
  /// Nothing may be appended after it. Throws Error when not all could be written.
  void close();
  [[nodiscard]] bool is_open() const { return out_.is_open(); }

 private:
  [[noreturn]] void fail(int error) const;

  const std::string path_, what_;
  std::mutex mutex_;
  std::ofstream out_;
  int error_ = 0;  ///< errno of the first time that nothing could be written
};

}  // namespace refrain::runtime
