#pragma once
// A file that replaces an older one when it is complete. The text goes to a file beside it, with the same name and
// ".new-PROCESS-NUMBER" behind; the older file stays as it is until then. A process that is killed leaves the new one.
//
// Three kinds are written in place:
// - a file that one of the process's descriptors writes already ("/dev/stdout", "/dev/fd/7"), by that descriptor, so
//   that the text comes behind what the program has written there;
// - a terminal, a pipe or a device, which has no text to lose;
// - a regular file where no other can be made beside it (the folder is closed to us, or the name is too long). Its older
//   text is lost with the first text written, not before.
// Behind other links a regular file is replaced as by its own name, and the link stays.
//
// Threads: one at a time per object. Several processes and objects may write to one path: the last one kept stays.

#include <array>
#include <cstddef>
#include <fstream>
#include <optional>
#include <ostream>
#include <streambuf>
#include <string>

namespace refrain {

/// The buffer of a stream that writes by a descriptor which others write by, too. They share one place in the file, so
/// that none overwrites what another wrote.
class DescriptorBuffer final : public std::streambuf {
 public:
  /// Keeps a duplicate; errno tells why there is none where is_open() is false.
  explicit DescriptorBuffer(int descriptor);
  /// What was not flushed is lost.
  ~DescriptorBuffer() override;
  DescriptorBuffer(const DescriptorBuffer&) = delete;

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

 protected:
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  const int descriptor_;
  std::array<char, std::size_t{1} << 14> bytes_;
};

/// The descriptor by which this process writes to that file already: standard output or error, by whatever name
/// ("/dev/stdout", that of the file it leads to), or one named by number ("/dev/fd/7").
std::optional<int> descriptor_of(const std::string& path);

/// Makes an empty file beside `target`, of the usual mode, whose name nobody else has:
/// "TARGET.new-PROCESS-NUMBER". Returns its name; empty: none can be made.
std::string make_beside(const std::string& target);

class NewFile {
 public:
  /// Finds out whether the file can be written, and changes nothing of it: `error()` is errno's value, or 0.
  explicit NewFile(std::string path);
  /// Text beside the file that was not kept is gone.
  ~NewFile();
  NewFile(const NewFile&) = delete;

  /// For the text. A file in place is emptied by the first call.
  [[nodiscard]] std::ostream& out();
  [[nodiscard]] int error() const { return error_; }
  /// The text is complete, and takes its place. Returns errno's value, or 0.
  int keep();
  [[nodiscard]] bool is_open() const { return file_.is_open() || shared_; }

 private:
  const std::string path_;
  std::string target_;  ///< the same, links followed
  std::string beside_;  ///< where it is written; empty: in its place
  std::filebuf file_;
  std::optional<DescriptorBuffer> shared_;  ///< in its place, with others
  std::ostream out_{nullptr};               ///< on one of them
  int error_ = 0;
  bool is_untouched_ = false;  ///< written in place, and still as it was found
  bool is_made_here_ = false;  ///< in place; there was no file
};

/// Writes `text` to the file. Throws Error "the WHAT cannot be written to 'PATH': ...".
void write_file(const std::string& path, const std::string& what, const std::string& text);

}  // namespace refrain
