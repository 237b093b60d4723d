#pragma once
// A folder for files, which is gone afterwards.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace refrain::test {

class Place {
 public:
  Place() : folder_(testing::TempDir() + "/oracle.XXXXXX") {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~Place() { std::filesystem::remove_all(folder_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + '/' + name; }

 private:
  std::string folder_;
};

}  // namespace refrain::test
