#pragma once
// A folder that is gone in the end, with all that is in it.

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "refrain/error.hpp"

namespace refrain::map {

class TemporaryFolder {
 public:
  /// In the folder `in`, with a name that begins so. Throws Error where it cannot be made.
  TemporaryFolder(const std::filesystem::path& in, const std::string& name)
      : path_((std::filesystem::absolute(in) / (name + ".XXXXXX")).string()) {
    if (::mkdtemp(path_.data()) == nullptr)
      throw Error("no folder can be made in '" + in.string() +
                  "': " + std::generic_category().message(errno));
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace refrain::map
