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

#include <ext/stdio_filebuf.h>

#include <functional>
#include <optional>
#include <ostream>
#include <string>

namespace refrain {

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
  /// Text that was not kept is gone, where it is beside the file.
  ~NewFile();
  NewFile(const NewFile&) = delete;

  /// For the text. A file in place is emptied by the first call.
  [[nodiscard]] std::ostream& out();
  [[nodiscard]] int error() const { return error_; }
  /// The text is complete, and takes its place. Returns errno's value, or 0.
  int keep();
  [[nodiscard]] bool is_open() const { return file_.is_open(); }

 private:
  const std::string path_;
  std::string target_;  ///< the same, links followed
  std::string beside_;  ///< where it is written; empty: in its place
  /// On a descriptor that others write by, too, a duplicate: they share one place in the file, so that none overwrites
  /// what another wrote.
  __gnu_cxx::stdio_filebuf<char> file_;
  std::ostream out_{&file_};
  int error_ = 0;
  bool is_shared_ = false;     ///< in its place, with others
  bool is_untouched_ = false;  ///< written in place, and still as it was found
  bool is_made_here_ = false;  ///< in place; there was no file
};

/// Throws Error "the WHAT cannot be written to 'PATH': ..." unless `error`, errno's value, is 0.
void check_written(const std::string& path, const std::string& what, int error);
/// Writes the file; the same error.
void write_file(const std::string& path, const std::string& what,
                const std::function<void(std::ostream&)>& write);
inline void write_file(const std::string& path, const std::string& what, const std::string& text) {
  write_file(path, what, [&](std::ostream& out) { out << text; });
}

}  // namespace refrain
