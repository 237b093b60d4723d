#pragma once
// A file that takes the place of an older one when it is complete: until then it is written beside it, under the same
// name with an end of its own, and the older one stays as it is. What is no regular file (a terminal, a pipe), and
// what has a name in a folder where no other can be made, is written as it is, from the first byte on.

#include <fstream>
#include <string>

namespace refrain {

class NewFile {
 public:
  /// Whether it can be written is known from here on: `error()` is errno's value, or 0.
  explicit NewFile(std::string path);
  /// What was not kept is gone.
  ~NewFile();
  NewFile(const NewFile&) = delete;

  [[nodiscard]] std::ofstream& out() { return out_; }
  [[nodiscard]] int error() const { return error_; }
  /// All has been written: it takes its place. Returns errno's value, or 0.
  int keep();
  [[nodiscard]] bool is_open() const { return out_.is_open(); }

 private:
  const std::string path_;
  std::string target_;  ///< the same, links followed
  std::string beside_;  ///< where it is written; empty: in its place
  std::ofstream out_;
  int error_ = 0;
};

/// Writes `text` to the file. Throws Error "the WHAT cannot be written to 'PATH': ...".
void write_file(const std::string& path, const std::string& what, const std::string& text);

}  // namespace refrain
