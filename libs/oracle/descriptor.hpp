#pragma once
// An open regular file, closed when it is destroyed. What goes wrong is a FileError.
//
// The process it is in may be anybody's, and may close descriptors that are not its own, whose numbers then come to be
// those of its files. So what a file is has been kept, and is compared before it is locked, as it is before each write,
// and before it is closed. The lowest descriptors are left to the program.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace refrain::oracle {

/// Which file it is, by whatever path or link.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

class Descriptor {
 public:
  /// `flags`: of open(2). FileError also, if it is no regular file: nothing else is waited for or written to.
  Descriptor(std::string path, int flags);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] FileIdentity identity() const { return identity_; }
  /// Whether it is still to be found in a folder: it has not been removed, nor another put in its place.
  [[nodiscard]] bool has_a_name() const;
  /// In bytes, now; FileError, if that is more than kLargestFile.
  [[nodiscard]] std::uint64_t size() const;
  /// Returns how many bytes there were, at most `size`.
  std::size_t read(char* to, std::size_t size, std::uint64_t offset) const;
  /// By one write(2), unless the system takes less.
  void write(std::string_view bytes) const;
  /// The same from an offset on; what is there is replaced.
  void write(std::string_view bytes, std::uint64_t offset) const;
  /// False, if it cannot be.
  [[nodiscard]] bool truncate(std::uint64_t size) const;

  // A lock among those who have opened the file, each apart. What it takes is gone with the process.
  void lock() const;
  void unlock() const;
  void lock_shared() const;
  void unlock_shared() const { unlock(); }

 private:
  void lock_as(int operation) const;
  [[nodiscard]] bool is_still_open() const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  int descriptor_;
  FileIdentity identity_;
};

}  // namespace refrain::oracle
