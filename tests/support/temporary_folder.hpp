#pragma once
// A folder that ends with its scope, and all that is in it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace refrain::test {

class TemporaryFolder {
 public:
  TemporaryFolder() : folder_(testing::TempDir() + "/refrain.XXXXXX") {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~TemporaryFolder() { std::filesystem::remove_all(folder_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + '/' + name; }

 private:
  std::string folder_;
};

}  // namespace refrain::test
