#pragma once
// An empty file in the folder for temporary ones, until the end of the scope.

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace refrain::bench {

class TemporaryFile {
 public:
  TemporaryFile() : path_(std::filesystem::temp_directory_path() / "refrain_bench_XXXXXX") {
    const int file = ::mkstemp(path_.data());
    if (file == -1) throw std::system_error(errno, std::generic_category(), path_);
    ::close(file);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace refrain::bench
