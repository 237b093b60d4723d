#pragma once
// A file that ends with its scope.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace refrain::test {

class TemporaryFile {
 public:
  /// `name` is the end of its path; no two processes have the same one.
  explicit TemporaryFile(const std::string& name, const std::string& text = {})
      : path_(testing::TempDir() + std::to_string(getpid()) + "." + name) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace refrain::test
